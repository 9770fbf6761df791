# The command and the Python package in one image, with the C compiler that they need.
#
#   docker build -t tilewright .
#   docker run --rm tilewright run heat2d --size 1000x1000 --steps 100 --verify
FROM rust:1-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends autoconf automake libtool python3-venv python3-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python3 -m venv /tools && /tools/bin/pip install --no-cache-dir "maturin>=1.9,<2" \
    && /tools/bin/maturin build --locked --release --out /wheels --compatibility off

FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev libgomp1 make \
    && rm -rf /var/lib/apt/lists/* && useradd --create-home user
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels
USER user
WORKDIR /home/user
ENTRYPOINT ["tilewright"]
CMD ["--help"]
