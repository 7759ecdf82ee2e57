// The operators and values of node selectors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines } from '../../api/rule-context.fixture.js'
import { validateNodeSelector } from './node-selector.js'
import type { NodeSelectorRequirement } from './v1.schema.js'

type Row = { readonly title: string; readonly requirement: NodeSelectorRequirement; readonly found: readonly string[] }

const noneOrMany = "values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
const noValues = "values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
const single = "values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"
const onlyOne = "values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector"

const expressions: readonly Row[] = [
  { title: 'In', requirement: { key: 'zone', operator: 'In', values: ['not a label!'] }, found: [] },
  { title: 'NotIn', requirement: { key: 'x.io/zone', operator: 'NotIn', values: ['a', 'b'] }, found: [] },
  { title: 'Exists', requirement: { key: 'gpu', operator: 'Exists' }, found: [] },
  { title: 'DoesNotExist', requirement: { key: 'gpu', operator: 'DoesNotExist' }, found: [] },
  { title: 'Gt', requirement: { key: 'cpus', operator: 'Gt', values: ['many'] }, found: [] },
  { title: 'Lt', requirement: { key: 'cpus', operator: 'Lt', values: ['4'] }, found: [] },
  { title: 'In nothing', requirement: { key: 'a', operator: 'In' }, found: [noneOrMany] },
  { title: 'NotIn nothing', requirement: { key: 'a', operator: 'NotIn' }, found: [noneOrMany] },
  { title: 'Exists with a value', requirement: { key: 'a', operator: 'Exists', values: ['x'] }, found: [noValues] },
  { title: 'DoesNotExist with a value', requirement: { key: 'a', operator: 'DoesNotExist', values: ['x'] }, found: [noValues] },
  { title: 'Gt two values', requirement: { key: 'a', operator: 'Gt', values: ['1', '2'] }, found: [single] },
  { title: 'Lt nothing', requirement: { key: 'a', operator: 'Lt' }, found: [single] },
  {
    title: 'Equals',
    requirement: { key: 'a', operator: 'Equals' },
    found: ['operator: Invalid value: "Equals": not a valid selector operator'],
  },
  { title: 'no operator', requirement: { key: 'a' }, found: ['operator: Invalid value: "": not a valid selector operator'] },
  { title: 'a bad key', requirement: { key: 'a b', operator: 'Exists' }, found: ['key: Invalid value: "a b": name part must'] },
  {
    title: 'no key',
    requirement: { operator: 'Exists' },
    found: ['key: Invalid value: "": name part', 'key: Invalid value: "": name part'],
  },
]

const fields: readonly Row[] = [
  { title: 'In', requirement: { key: 'metadata.name', operator: 'In', values: ['n1'] }, found: [] },
  { title: 'NotIn', requirement: { key: 'metadata.name', operator: 'NotIn', values: ['n1'] }, found: [] },
  {
    title: 'another field',
    requirement: { key: 'metadata.labels', operator: 'In', values: ['x'] },
    found: ['key: Invalid value: "metadata.labels": not a valid field selector key'],
  },
  {
    title: 'Exists',
    requirement: { key: 'metadata.name', operator: 'Exists', values: ['x'] },
    found: ['operator: Invalid value: "Exists": not a valid selector operator'],
  },
  { title: 'two values', requirement: { key: 'metadata.name', operator: 'In', values: ['x', 'y'] }, found: [onlyOne] },
  { title: 'no values', requirement: { key: 'metadata.name', operator: 'In' }, found: [onlyOne] },
  {
    title: 'a value that is no name',
    requirement: { key: 'metadata.name', operator: 'In', values: ['N_1'] },
    found: ['values[0]: Invalid value: "N_1": a lowercase RFC 1123 subdomain'],
  },
]

for (const { list, rows } of [
  { list: 'matchExpressions', rows: expressions },
  { list: 'matchFields', rows: fields },
]) {
  for (const { title, requirement, found } of rows) {
    test(`${list}: ${title}`, () => {
      const errors = lines(validateNodeSelector(frozen({ nodeSelectorTerms: [{}, { [list]: [requirement] }] }), 'nodes'))
      const expected = found.map((line) => `nodes.nodeSelectorTerms[1].${list}[0].${line}`)
      assert.deepEqual(
        errors.map((line, i) => line.slice(0, expected[i]?.length)),
        expected,
      )
    })
  }
}

test('there must be a term', () => {
  assert.deepEqual(lines(validateNodeSelector({}, 'nodes')), [
    'nodes.nodeSelectorTerms: Required value: must have at least one node selector term',
  ])
})
