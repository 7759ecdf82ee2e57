// What API services must say, and what a table shows of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { apiService, localCondition } from './api-service.js'
import type { APIService, APIServiceSpec } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'v1.a.b', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const service = { namespace: 'n', name: 's', port: 443 }
const good: APIServiceSpec = { group: 'a.b', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, service }
const make = (spec: APIServiceSpec, more: Partial<APIService> = {}): APIService => frozen({ metadata, spec, ...more })
const without = (...names: readonly (keyof APIServiceSpec)[]): APIServiceSpec =>
  Object.fromEntries(Object.entries(good).filter(([name]) => !names.includes(name as keyof APIServiceSpec)))

test('the port is filled in, and a local service is available from the start', () => {
  assert.deepEqual(apiService.defaults?.(make({ service: { name: 's' } }), context), make({ service: { name: 's', port: 443 } }))
  assert.deepEqual(apiService.prepareCreate?.(make(good, { status: { conditions: [{ type: 'x' }] } }), context), make(good, { status: {} }))
  const local = apiService.prepareCreate?.(make(without('service')), context) as APIService
  assert.deepEqual(local.status?.conditions, [localCondition(context.now)])
  assert.equal(local.status?.conditions?.[0]?.reason, 'Local')
})

const label = 'Invalid value: "V1": a DNS-1035 label must consist of'
const rows: readonly { readonly title: string; readonly spec: APIServiceSpec; readonly found: readonly string[] }[] = [
  { title: 'a service', spec: good, found: [] },
  { title: 'no service', spec: without('service'), found: [] },
  { title: 'a bundle', spec: { ...good, caBundle: 'eHg=' }, found: [] },
  {
    title: 'another version',
    spec: { ...good, version: 'v2' },
    found: ['metadata.name: Invalid value: "v1.a.b": must be `spec.version+"."+spec.group`: "v2.a.b"'],
  },
  {
    title: 'priorities out of range',
    spec: { ...good, groupPriorityMinimum: 20001, versionPriority: 0 },
    found: [
      'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
      'spec.versionPriority: Invalid value: 0: must be positive and less than 1000',
    ],
  },
  {
    title: 'a service of no name',
    spec: { ...good, service: { port: 0 } },
    found: [
      'spec.service.namespace: Required value',
      'spec.service.name: Required value',
      'spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    ],
  },
  {
    title: 'trust both ways',
    spec: { ...good, insecureSkipTLSVerify: true, caBundle: 'eHg=' },
    found: ['spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'],
  },
  {
    title: 'trust in itself',
    spec: { ...without('service'), insecureSkipTLSVerify: true, caBundle: 'eHg=' },
    found: [
      'spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle',
      'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
    ],
  },
]

for (const { title, spec, found } of rows) {
  test(`an API service with ${title}`, () => {
    assert.deepEqual(lines(validateCreation(apiService, make(spec), context)), found)
    assert.deepEqual(lines(validateChange(apiService, { next: make(spec), old: make(good) }, context)), found)
  })
}

test('the core group has one version', () => {
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

test('the status has one of three words', () => {
  const [status] = apiService.subresources ?? []
  const next = make(good, { status: { conditions: [{ type: 'Available', status: 'Maybe' }] } })
  assert.deepEqual(lines(status?.validateUpdate?.(next, make(good), context) ?? []), [
    'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
  ])
})

const cells: readonly { readonly title: string; readonly object: APIService; readonly shown: readonly string[] }[] = [
  { title: 'a new one', object: make(good), shown: ['n/s', 'Unknown'] },
  { title: 'a local one', object: make(without('service'), { status: { conditions: [localCondition(0)] } }), shown: ['Local', 'True'] },
  {
    title: 'one that is gone',
    object: make(good, { status: { conditions: [{ type: 'Available', status: 'False', reason: 'Gone' }] } }),
    shown: ['n/s', 'False (Gone)'],
  },
]

for (const { title, object, shown } of cells) {
  test(`the table shows ${title}`, () => assert.deepEqual(apiService.table?.cells(object, context), ['v1.a.b', ...shown, '60m']))
}
