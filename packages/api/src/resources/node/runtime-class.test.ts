// Runtime classes: handlers that stay, overhead, and where they are to be had.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFound } from '../core/pod-spec/pod-spec.fixture.js'
import { writerOf } from '../core/workload.fixture.js'
import { runtimeClass } from './runtime-class.js'
import type { RuntimeClass } from './v1.schema.js'

const { create, createErrors, updateErrors, cells } = writerOf<RuntimeClass>(runtimeClass)
const metadata = { name: 'a', uid: 'u', resourceVersion: '1' }

test('what a class must be', () => {
  assertFound(
    createErrors({
      metadata,
      handler: 'runc',
      overhead: { podFixed: { cpu: '100m' } },
      scheduling: { tolerations: [{ operator: 'Exists' }] },
    }),
    [],
  )
  const wrong: RuntimeClass = {
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
  assertFound(createErrors(wrong), [
    'handler: Invalid value: "Run_C": a lowercase RFC 1123 label',
    'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'scheduling.nodeSelector: Invalid value: "not ok"',
    'scheduling.tolerations.tolerations[2].operator: Unsupported value: "Some": supported values: "Equal", "Exists"',
    'scheduling.tolerations[1]: Duplicate value: {"operator":"Exists","effect":""}',
    'scheduling.tolerations[4]: Duplicate value: {"operator":"Exists","effect":"NoExecute","tolerationSeconds":2}',
  ])
})

test('the handler stays', () => {
  const old = create({ metadata, handler: 'runc' })
  assertFound(updateErrors({ metadata, handler: 'runc', overhead: {} }, old), [])
  assertFound(updateErrors({ metadata, handler: 'other' }, old), ['handler: Invalid value: "other": field is immutable'])
})

test('the row', () => assert.deepEqual(cells({ metadata, handler: 'runc' }), ['a', 'runc', '<unknown>']))
