// Output formats: JSONPath, custom columns, column widths, diffs, ages, sorting, descriptions of unknown kinds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainStyle } from '../command-line/io.js'
import { unifiedDiff } from '../commands/write/diff.js'
import { outlineEntries } from '../describe/describe-object.js'
import { renderEntries } from '../describe/description.js'
import { ageText, alignRows, columnsOfFile, namedColumns } from './columns.js'
import { fillTemplate, parseTemplate } from './json-path.js'
import { compareValues, sortedBy } from './sorting.js'

const shop = {
  kind: 'List',
  items: [
    { name: 'apple', price: 3, tags: ['red', 'sour'], on: true },
    { name: 'pear', price: 12, tags: [], 'a.b/c': 'odd', off: false, color: 'green', deep: { er: 'x' } },
  ],
}
const fill = (text: string): string => fillTemplate(parseTemplate(text), shop)

test('JSONPath templates', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['plain', 'plain'],
    ['{.kind}', 'List'],
    ['{$.kind}-{@.kind}', 'List-List'],
    ['{.items[*].name}', 'apple pear'],
    ['{.items[0].tags}', '["red","sour"]'],
    ['{.items[-1].name}', 'pear'],
    ['{.items[0:1].name}', 'apple'],
    ['{.items[?(@.price>5)].name}', 'pear'],
    ['{.items[?(@.name=="apple")].price}', '3'],
    ['{.items[?(@.on)].name}', 'apple'],
    ['{.items[?(@.price!=3)].name}', 'pear'],
    // False values exist; missing values match no comparison.
    ['{.items[?(@.off)].name}', 'pear'],
    ['{.items[?(@.color!="red")].name}', 'pear'],
    ["{.items[1]['deep.er','name']}", 'x pear'],
    ['{..name}', 'apple pear'],
    ["{.items[1]['a.b/c']}", 'odd'],
    ['{.items[1].a\\.b/c}', 'odd'],
    ["{.items[0]['name','price']}", 'apple 3'],
    // Unions are evaluated name by name.
    ["{.items[*]['name','price']}", 'apple pear 3 12'],
    ['{1} {1.5} {true}', '1 1.5 true'],
    ['{range .items[*]}{.name}', 'applepear'],
    ['{.items[1].deep}', '{"er":"x"}'],
    ['{.items[1:1].name}', ''],
    ['{range .items[*]}{.name}{"\\t"}{.price}{"\\n"}{end}', 'apple\t3\npear\t12\n'],
    ['{range .items[*]}[{range .tags[*]}<{@}>{end}]{end}', '[<red><sour>][]'],
    ['{.none.at.all}', ''],
  ]
  for (const [template, text] of cases) assert.equal(fill(template), text, template)
  assert.throws(() => fill('{.items[5].name}'), /array index out of bounds: index 5, length 2/)
  assert.throws(() => fill('{.a'), /unclosed action/)
  assert.throws(() => fill('{end}'), /not in range, nothing to end/)
  assert.throws(() => fill('{.items[?(@.price=="3")].name}'), /incompatible types for comparison/)
  assert.throws(() => fill('{.items[?(@.name in ("apple"))]}'), /unclosed array expect ]/)
  assert.throws(() => fill('{.items[0:9].name}'), /array index out of bounds: index 8, length 2/)
  assert.throws(() => fillTemplate(parseTemplate('{.none}'), shop, { allowsMissing: false }), /none is not found/)
})

test('custom columns', () => {
  const columns = namedColumns('NAME:.name,TAGS:.tags[*],NONE:{.x}')
  assert.deepEqual(columns.headers, ['NAME', 'TAGS', 'NONE'])
  assert.deepEqual(shop.items.map(columns.rowOf), [
    ['apple', 'red,sour', '<none>'],
    ['pear', '<none>', '<none>'],
  ])
  assert.deepEqual(namedColumns('A:.deep,B:.tags,C:.off').rowOf(shop.items[1]), ['map[er:x]', '[]', 'false'])
  assert.deepEqual(columnsOfFile('A  B\n.name .price\n').rowOf(shop.items[0]), ['apple', '3'])
  assert.throws(() => namedColumns('NAME'), /expected <header>:<json-path-expr>/)
  assert.equal(
    alignRows([
      ['A', 'B'],
      ['long text', 'x'],
      ['ü', 'y'],
    ]),
    'A           B\nlong text   x\nü           y\n',
  )
})

test('unified diffs', () => {
  assert.equal(unifiedDiff('a\nb\n', 'a\nb\n', ['x', 'y']), '')
  assert.equal(unifiedDiff('a\nb\nc\n', 'a\nB\nc\n', ['x', 'y']), '--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n')
  assert.equal(unifiedDiff('', 'a\n', ['x', 'y']), '--- x\n+++ y\n@@ -0,0 +1,1 @@\n+a\n')
  const numbers = (change: number): string => Array.from({ length: 30 }, (_, i) => `${i === change ? 'x' : i}\n`).join('')
  assert.match(
    unifiedDiff(numbers(-1), numbers(20), ['x', 'y']),
    /^--- x\n\+\+\+ y\n@@ -18,7 \+18,7 @@\n 17\n 18\n 19\n-20\n\+x\n 21\n 22\n 23\n$/,
  )
})

test('ages', () => {
  const seconds = [0, 119, 120, 125, 600, 3 * 3600, 3 * 3600 + 60, 9 * 3600, 48 * 3600, 50 * 3600, 30 * 86_400, 800 * 86_400]
  assert.deepEqual(
    seconds.map((ageSeconds) => ageText(ageSeconds * 1000)),
    ['0s', '119s', '2m', '2m5s', '10m', '3h', '3h1m', '9h', '2d', '2d2h', '30d', '2y70d'],
  )
})

test('sorting', () => {
  assert.ok(compareValues(9, 10) < 0)
  assert.ok(compareValues('9Mi', '10Ki') > 0)
  assert.ok(compareValues('b', 'a') > 0)
  assert.ok(compareValues(undefined, 'a') < 0)
  assert.deepEqual(
    sortedBy('.color', shop.items).map(({ name }) => name),
    ['apple', 'pear'],
  )
  assert.throws(() => sortedBy('none', shop.items), /couldn't find any field with path "\{\.none\}" in the list of objects/)
  assert.deepEqual(sortedBy('none', []), [])
})

test('descriptions of unknown kinds', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', labels: { app: 'x' } },
    spec: { nodeName: 'n1', list: [{ a: 1, b: [2] }, 'z'] },
  }
  assert.equal(
    renderEntries(outlineEntries(object), plainStyle),
    'Name:         web\nNamespace:    shop\nLabels:       app=x\nAnnotations:  <none>\nAPI Version:  v1\nKind:         Pod\nMetadata:\nSpec:\n  List:\n    A:  1\n    B:\n      2\n    z\n  Node Name:  n1\n',
  )
})

test('a column is as wide as its widest cell, in characters and not in code units', () => {
  const rows = [
    ['😀😀😀😀😀😀😀😀', 'x'],
    ['12345678', 'y'],
    ['é1', 'z'],
  ]
  assert.equal(alignRows(rows), '😀😀😀😀😀😀😀😀   x\n12345678   y\né1         z\n')
})
