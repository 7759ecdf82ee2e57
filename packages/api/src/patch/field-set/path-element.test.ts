// Path elements: order, canonical and printed text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFieldsV1 } from '../managed-fields/managed-fields-entries.js'
import { printPaths } from './field-set.js'
import { canonicalElement, compareElements } from './path-element.js'

test('order: fields, keyed items, values, indexes; numbers by value', () => {
  const ordered = [
    '.',
    'f:',
    'f:A',
    'f:a',
    'f:a b',
    'f:ab',
    'f:｡',
    'f:😀',
    'k:{"a":1}',
    'k:{"a":1,"b":"x"}',
    'k:{"a":"1"}',
    'k:{"name":"a"}',
    'k:{"name":"a b"}',
    'k:{"name":"ab"}',
    'k:{"port":80}',
    'k:{"port":443}',
    'v:-1',
    'v:2',
    'v:10',
    'v:"10"',
    'v:"2"',
    'v:false',
    'v:true',
    'i:2',
    'i:10',
  ]
  assert.deepEqual([...ordered].reverse().sort(compareElements), ordered)
})

const elements: readonly { readonly text: string; readonly canonical: string | undefined }[] = [
  { text: 'f:any thing', canonical: 'f:any thing' },
  { text: 'v: "a"', canonical: 'v:"a"' },
  { text: 'v:"<&>"', canonical: 'v:"\\u003c\\u0026\\u003e"' },
  { text: 'k:{ "b":1, "a":"x" }', canonical: 'k:{"a":"x","b":1}' },
  { text: 'i:07', canonical: 'i:7' },
  { text: 'x:future', canonical: 'unknown' },
  { text: 'k:[1]', canonical: undefined },
  { text: 'k:{', canonical: undefined },
  { text: 'v:', canonical: undefined },
  { text: 'i:x', canonical: undefined },
  { text: 'data', canonical: undefined },
  { text: 'f', canonical: undefined },
]

for (const { text, canonical } of elements) test(`canonicalElement of ${text}`, () => assert.equal(canonicalElement(text), canonical))

test('printPaths prints members before nested paths', () => {
  const { set } = readFieldsV1({
    'f:spec': {
      'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:name': {}, '.': {} } },
      'f:size': {},
      'f:set': { 'v:"x"': {}, 'v:2': {}, 'i:3': {} },
    },
  }) as { set: Parameters<typeof printPaths>[0] }
  assert.deepEqual(printPaths(set, 100), [
    '.spec.size',
    '.spec.ports[port=80,protocol="TCP"]',
    '.spec.ports[port=80,protocol="TCP"].name',
    '.spec.set[=2]',
    '.spec.set[="x"]',
    '.spec.set[3]',
  ])
})

test('readFieldsV1 rejects sets that are too deep', () => {
  let deep: object = {}
  for (let i = 0; i < 1000; i++) deep = { 'f:a': deep }
  assert.equal(readFieldsV1(deep), undefined)
})
