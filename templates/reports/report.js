'use strict';
// Designs that can be filtered, sorted and found again in all drawings. Without it the page shows everything.
// No sign that has a meaning in XML stands here: a page is well-formed.
(function () {
    const table = document.getElementById('designs');
    const panel = document.getElementById('filters');
    if (!table || !panel) { return; }
    const body = table.tBodies[0];
    const heads = Array.from(table.tHead.rows[0].cells);
    const rows = Array.from(body.rows).map(function (row) {
        const texts = Array.from(row.cells).map(function (cell) { return cell.textContent; });
        return { row: row, name: texts[0], values: texts.map(parseFloat) };
    });
    const marks = new Map();
    document.querySelectorAll('.designs svg title').forEach(function (title) {
        const name = title.textContent.split(': ')[0];
        if (!marks.has(name)) { marks.set(name, []); }
        marks.get(name).push(title.parentNode);
    });
    function each(name, change) { (marks.get(name) || []).forEach(change); }

    const filters = [];
    const count = document.createElement('output');
    function apply() {
        let shown = 0;
        rows.forEach(function (own) {
            const inside = filters.every(function (filter) {
                const value = own.values[filter.column];
                return value >= filter.low() ? filter.high() >= value : false;
            });
            own.row.hidden = !inside;
            shown += inside ? 1 : 0;
            each(own.name, function (mark) { mark.classList.toggle('out', !inside); });
        });
        count.textContent = shown + ' of ' + rows.length + ' designs';
    }
    heads.forEach(function (head, column) {
        if (column === 0) { return; }
        const values = Array.from(new Set(rows.map(function (own) { return own.values[column]; })));
        values.sort(function (a, b) { return a - b; });
        if (2 > values.length) { return; }
        const field = document.createElement('fieldset');
        const legend = document.createElement('legend');
        const range = document.createElement('span');
        function slider(start, what) {
            const input = document.createElement('input');
            input.type = 'range';
            input.min = 0;
            input.max = values.length - 1;
            input.value = start;
            input.setAttribute('aria-label', head.textContent + ', ' + what);
            input.addEventListener('input', update);
            return input;
        }
        const low = slider(0, 'at least');
        const high = slider(values.length - 1, 'at most');
        function update() {
            range.textContent = values[low.value] + ' to ' + values[high.value];
            apply();
        }
        legend.textContent = head.textContent;
        field.append(legend, low, high, range);
        panel.append(field);
        filters.push({
            column: column,
            low: function () { return values[low.value]; },
            high: function () { return values[high.value]; },
        });
        range.textContent = values[0] + ' to ' + values[values.length - 1];
        head.classList.add('sorts');
        let down = true;
        head.addEventListener('click', function () {
            const sign = down ? -1 : 1;
            down = !down;
            rows.slice().sort(function (a, b) { return sign * (a.values[column] - b.values[column]); })
                .forEach(function (own) { body.append(own.row); });
        });
    });
    rows.forEach(function (own) {
        function over(on) { each(own.name, function (mark) { mark.classList.toggle('over', on); }); }
        own.row.addEventListener('mouseenter', function () { over(true); });
        own.row.addEventListener('mouseleave', function () { over(false); });
    });
    panel.append(count);
    panel.hidden = false;
    apply();
}());
