// Tests of APIServices: defaults, validation, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { apiService, localCondition } from './api-service.js'
import type { APIService, APIServiceSpec } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'v1.a.b', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const service = { namespace: 'n', name: 's', port: 443 }
const valid: APIServiceSpec = { group: 'a.b', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, service }
const make = (spec: APIServiceSpec, more: Partial<APIService> = {}): APIService => frozen({ metadata, spec, ...more })
const without = (...names: readonly (keyof APIServiceSpec)[]): APIServiceSpec =>
  Object.fromEntries(Object.entries(valid).filter(([name]) => !names.includes(name as keyof APIServiceSpec)))

test('the port is defaulted, and a local APIService is available', () => {
  assert.deepEqual(apiService.defaults?.(make({ service: { name: 's' } }), context), make({ service: { name: 's', port: 443 } }))
  assert.deepEqual(
    apiService.prepareCreate?.(make(valid, { status: { conditions: [{ type: 'x' }] } }), context),
    make(valid, { status: {} }),
  )
  const local = apiService.prepareCreate?.(make(without('service')), context) as APIService
  assert.deepEqual(local.status?.conditions, [localCondition(context.now)])
  assert.equal(local.status?.conditions?.[0]?.reason, 'Local')
})

const label = 'Invalid value: "V1": a DNS-1035 label must consist of'
const rows: readonly (readonly [spec: APIServiceSpec, ...expected: readonly string[]])[] = [
  [valid],
  [without('service')],
  [{ ...valid, caBundle: 'eHg=' }],
  [{ ...valid, version: 'v2' }, 'metadata.name: Invalid value: "v1.a.b": must be `spec.version+"."+spec.group`: "v2.a.b"'],
  [
    { ...valid, groupPriorityMinimum: 20001, versionPriority: 0 },
    'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
    'spec.versionPriority: Invalid value: 0: must be positive and less than 1000',
  ],
  [
    { ...valid, service: { port: 0 } },
    'spec.service.namespace: Required value',
    'spec.service.name: Required value',
    'spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
  ],
  [
    { ...valid, insecureSkipTLSVerify: true, caBundle: 'eHg=' },
    'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
  ],
  [
    { ...without('service'), insecureSkipTLSVerify: true, caBundle: 'eHg=' },
    'spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle',
    'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
  ],
]

for (const [spec, ...expected] of rows) {
  test(`an APIService: ${rowTitle(spec, expected)}`, () => {
    assert.deepEqual(lines(validateCreation(apiService, make(spec), context)), expected)
    assert.deepEqual(lines(validateChange(apiService, { next: make(spec), old: make(valid) }, context)), expected)
  })
}

test('the core group allows v1 only', () => {
  const core = { ...without('group'), version: 'v1' }
  assert.deepEqual(validateCreation(apiService, make(core, { metadata: { ...metadata, name: 'v1.' } }), context), [])
  const errors = lines(validateCreation(apiService, make({ ...core, version: 'V1' }, { metadata: { ...metadata, name: 'V1.' } }), context))
  assert.deepEqual(
    errors.map((line) => line.slice(0, 60)),
    ['spec.group: Required value: only v1 may have an empty group and it better be legacy kube', `spec.version: ${label}`].map((line) =>
      line.slice(0, 60),
    ),
  )
})

test('a condition status is True, False or Unknown', () => {
  const [status] = apiService.subresources ?? []
  const next = make(valid, { status: { conditions: [{ type: 'Available', status: 'Maybe' }] } })
  assert.deepEqual(lines(status?.validateUpdate?.(next, make(valid), context) ?? []), [
    'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
  ])
})

const cells: readonly (readonly [title: string, object: APIService, shown: readonly string[]])[] = [
  ['an APIService without conditions', make(valid), ['n/s', 'Unknown']],
  ['a local APIService', make(without('service'), { status: { conditions: [localCondition(0)] } }), ['Local', 'True']],
  [
    'an unavailable APIService',
    make(valid, { status: { conditions: [{ type: 'Available', status: 'False', reason: 'Gone' }] } }),
    ['n/s', 'False (Gone)'],
  ],
]

for (const [title, object, shown] of cells) {
  test(`printer columns of ${title}`, () => assert.deepEqual(apiService.table?.cells(object, context), ['v1.a.b', ...shown, '60m']))
}
