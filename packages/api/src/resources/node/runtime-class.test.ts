// Tests of RuntimeClasses: handler, overhead, scheduling.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors } from '../expect-errors.fixture.js'
import { runtimeClass } from './runtime-class.js'
import type { RuntimeClass } from './v1.schema.js'

const { create, createErrors, updateErrors, cells } = writerOf<RuntimeClass>(runtimeClass)
const metadata = { name: 'a', uid: 'u', resourceVersion: '1' }

test('handler, overhead and scheduling are validated', () => {
  expectErrors(
    createErrors({
      metadata,
      handler: 'runc',
      overhead: { podFixed: { cpu: '100m' } },
      scheduling: { tolerations: [{ operator: 'Exists' }] },
    }),
    [],
  )
  const invalidClass: RuntimeClass = {
    metadata,
    handler: 'Run_C',
    overhead: { podFixed: { cpu: '-1' } },
    scheduling: {
      nodeSelector: { k: 'not ok' },
      tolerations: [
        { operator: 'Exists' },
        { operator: 'Exists', effect: '' },
        { key: 'k', operator: 'Some' },
        { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 },
        { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 },
      ],
    },
  }
  expectErrors(createErrors(invalidClass), [
    'handler: Invalid value: "Run_C": a lowercase RFC 1123 label',
    'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'scheduling.nodeSelector: Invalid value: "not ok"',
    'scheduling.tolerations.tolerations[2].operator: Unsupported value: "Some": supported values: "Equal", "Exists"',
    'scheduling.tolerations[1]: Duplicate value: {"operator":"Exists","effect":""}',
    'scheduling.tolerations[4]: Duplicate value: {"operator":"Exists","effect":"NoExecute","tolerationSeconds":2}',
  ])
})

test('the handler is immutable', () => {
  const old = create({ metadata, handler: 'runc' })
  expectErrors(updateErrors({ metadata, handler: 'runc', overhead: {} }, old), [])
  expectErrors(updateErrors({ metadata }, old), [
    'handler: Invalid value: "": a lowercase RFC 1123 label',
    'handler: Invalid value: "": field is immutable',
  ])
  expectErrors(updateErrors({ metadata, handler: 'other' }, old), ['handler: Invalid value: "other": field is immutable'])
})

test('printer columns', () => assert.deepEqual(cells({ metadata, handler: 'runc' }), ['a', 'runc', '<unknown>']))
