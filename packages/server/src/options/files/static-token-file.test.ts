// Static token files and their CSV format.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCsv, parseTokenFile } from './static-token-file.js'

for (const row of [
  { name: 'one line', text: 'a,b,c\n', fields: [['a', 'b', 'c']] },
  { name: 'without a last line end', text: 'a,b', fields: [['a', 'b']] },
  {
    name: 'Windows line ends',
    text: 'a,b\r\nc,d\r\n',
    fields: [
      ['a', 'b'],
      ['c', 'd'],
    ],
  },
  { name: 'empty lines', text: '\na\n\n\nb\n', fields: [['a'], ['b']] },
  { name: 'empty fields', text: ',,\n', fields: [['', '', '']] },
  { name: 'quoted comma', text: 'a,"b,c"\n', fields: [['a', 'b,c']] },
  { name: 'quoted line end', text: '"a\nb",c\n', fields: [['a\nb', 'c']] },
  { name: 'doubled quotes', text: '"say ""yes""",b\n', fields: [['say "yes"', 'b']] },
  { name: 'spaces stay', text: ' a , b\n', fields: [[' a ', ' b']] },
  { name: 'empty file', text: '', fields: [] },
]) {
  test(`CSV: ${row.name}`, () =>
    assert.deepEqual(
      parseCsv(row.text).map((record) => record.fields),
      row.fields,
    ))
}

for (const row of [
  { name: 'quote in the middle', text: 'x\na"b,c\n', line: 2 },
  { name: 'text after a quote', text: '"a"b,c\n', line: 1 },
  { name: 'quote that never ends', text: 'x\ny\n"a,b\n', line: 3 },
]) {
  test(`CSV rejected: ${row.name}`, () =>
    assert.throws(() => parseCsv(row.text), { message: `line ${row.line} has a misplaced quotation mark` }))
}

test('lines are counted through quoted line ends', () => {
  assert.deepEqual(
    parseCsv('"a\n\nb"\n\nc\n').map((record) => record.line),
    [1, 5],
  )
})

test('tokens: groups, empty and repeated tokens, further columns', () => {
  const { users, warnings } = parseTokenFile('t1,admin,u1,"system:masters"\nt2,bob,\n,x,y\nt1,eve,u2,"a,b",more\n')
  assert.deepEqual([...users.keys()], ['t1', 't2'])
  assert.deepEqual(users.get('t1'), { name: 'eve', uid: 'u2', groups: ['a', 'b'], extra: {} })
  assert.deepEqual(users.get('t2'), { name: 'bob', uid: '', groups: [], extra: {} })
  assert.deepEqual(warnings, ['line 3 has an empty token and is ignored', 'line 4 has the token of an earlier line and replaces it'])
})
