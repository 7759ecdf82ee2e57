// Tests of node selectors: operators and values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines } from '../../../api/rule-context.fixture.js'
import { expectErrors } from '../../expect-errors.fixture.js'
import type { NodeSelectorRequirement } from '../v1.schema.js'
import { validateNodeSelector } from './node-selector.js'

type Row = { readonly title: string; readonly requirement: NodeSelectorRequirement; readonly problems: readonly string[] }

const valuesRequired = "values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
const valuesForbidden = "values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
const oneValueRequired = "values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"
const oneFieldValueRequired = "values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector"

const expressions: readonly Row[] = [
  { title: 'In', requirement: { key: 'zone', operator: 'In', values: ['not a label!'] }, problems: [] },
  { title: 'NotIn', requirement: { key: 'x.io/zone', operator: 'NotIn', values: ['a', 'b'] }, problems: [] },
  { title: 'Exists', requirement: { key: 'gpu', operator: 'Exists' }, problems: [] },
  { title: 'DoesNotExist', requirement: { key: 'gpu', operator: 'DoesNotExist' }, problems: [] },
  { title: 'Gt', requirement: { key: 'cpus', operator: 'Gt', values: ['many'] }, problems: [] },
  { title: 'Lt', requirement: { key: 'cpus', operator: 'Lt', values: ['4'] }, problems: [] },
  { title: 'In without values', requirement: { key: 'a', operator: 'In' }, problems: [valuesRequired] },
  { title: 'NotIn without values', requirement: { key: 'a', operator: 'NotIn' }, problems: [valuesRequired] },
  { title: 'Exists with a value', requirement: { key: 'a', operator: 'Exists', values: ['x'] }, problems: [valuesForbidden] },
  { title: 'DoesNotExist with a value', requirement: { key: 'a', operator: 'DoesNotExist', values: ['x'] }, problems: [valuesForbidden] },
  { title: 'Gt with two values', requirement: { key: 'a', operator: 'Gt', values: ['1', '2'] }, problems: [oneValueRequired] },
  { title: 'Lt without a value', requirement: { key: 'a', operator: 'Lt' }, problems: [oneValueRequired] },
  {
    title: 'unknown operator',
    requirement: { key: 'a', operator: 'Equals' },
    problems: ['operator: Invalid value: "Equals": not a valid selector operator'],
  },
  { title: 'no operator', requirement: { key: 'a' }, problems: ['operator: Invalid value: "": not a valid selector operator'] },
  { title: 'invalid key', requirement: { key: 'a b', operator: 'Exists' }, problems: ['key: Invalid value: "a b": name part must'] },
  {
    title: 'no key',
    requirement: { operator: 'Exists' },
    problems: ['key: Invalid value: "": name part', 'key: Invalid value: "": name part'],
  },
]

const fields: readonly Row[] = [
  { title: 'In', requirement: { key: 'metadata.name', operator: 'In', values: ['n1'] }, problems: [] },
  { title: 'NotIn', requirement: { key: 'metadata.name', operator: 'NotIn', values: ['n1'] }, problems: [] },
  {
    title: 'field other than metadata.name',
    requirement: { key: 'metadata.labels', operator: 'In', values: ['x'] },
    problems: ['key: Invalid value: "metadata.labels": not a valid field selector key'],
  },
  {
    title: 'Exists',
    requirement: { key: 'metadata.name', operator: 'Exists', values: ['x'] },
    problems: ['operator: Invalid value: "Exists": not a valid selector operator'],
  },
  { title: 'two values', requirement: { key: 'metadata.name', operator: 'In', values: ['x', 'y'] }, problems: [oneFieldValueRequired] },
  { title: 'no values', requirement: { key: 'metadata.name', operator: 'In' }, problems: [oneFieldValueRequired] },
  {
    title: 'value that is not a valid name',
    requirement: { key: 'metadata.name', operator: 'In', values: ['N_1'] },
    problems: ['values[0]: Invalid value: "N_1": a lowercase RFC 1123 subdomain'],
  },
]

for (const { list, rows } of [
  { list: 'matchExpressions', rows: expressions },
  { list: 'matchFields', rows: fields },
]) {
  for (const { title, requirement, problems } of rows) {
    test(`${list}: ${title}`, () => {
      const expected = problems.map((line) => `nodes.nodeSelectorTerms[1].${list}[0].${line}`)
      expectErrors(validateNodeSelector(frozen({ nodeSelectorTerms: [{}, { [list]: [requirement] }] }), 'nodes'), expected)
    })
  }
}

test('a node selector needs a term', () => {
  assert.deepEqual(lines(validateNodeSelector({}, 'nodes')), [
    'nodes.nodeSelectorTerms: Required value: must have at least one node selector term',
  ])
})
