// Tests of ResourceQuotas: resource names, scopes, immutable scopes, status.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { resourceQuota } from './resource-quota.js'
import type { ResourceQuota, ResourceQuotaSpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'q', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: ResourceQuotaSpec = {}, status: ResourceQuota['status'] = {}): ResourceQuota => frozen({ metadata, spec, status })

const existsOnly = "must be 'Exist' when scope is any of"
const rows: readonly (readonly [spec: ResourceQuotaSpec, ...expected: readonly string[]])[] = [
  [{}],
  [
    {
      hard: {
        'count/widgets.example.com': '3',
        'requests.memory': '1Gi',
        pods: '4',
        'hugepages-2Mi': '1',
        'requests.example.com/gpu': '1',
      },
    },
  ],
  [
    { hard: { pods: '-1', services: '1500m', storage: '1', nonsense: '1' } },
    'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
    'spec.hard[services]: Invalid value: "1500m": must be an integer',
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
    'spec.hard[nonsense]: Invalid value: "nonsense": must be a standard resource type or fully qualified',
    'spec.hard[nonsense]: Invalid value: "nonsense": must be a standard resource for quota',
  ],
  [{ hard: { pods: '1', cpu: '1' }, scopes: ['Terminating', 'NotBestEffort'] }],
  [
    { hard: { cpu: '1', services: '1' }, scopes: ['BestEffort', 'NotBestEffort', 'Odd'] },
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: unsupported scope applied to resource',
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: unsupported scope applied to resource',
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: unsupported scope applied to resource',
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: unsupported scope',
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: conflicting scopes',
  ],
  [
    {
      hard: { pods: '1' },
      scopes: ['constructor'],
      scopeSelector: { matchExpressions: [{ scopeName: 'constructor', operator: 'Exists' }] },
    },
    'spec.scopes: Invalid value: ["constructor"]: unsupported scope',
    'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "constructor": unsupported scope',
  ],
  [
    {
      hard: { pods: '1' },
      scopeSelector: {
        matchExpressions: [
          { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
          { scopeName: 'BestEffort', operator: 'Exists' },
        ],
      },
    },
  ],
  [
    {
      scopeSelector: {
        matchExpressions: [
          { scopeName: 'Odd', operator: 'In' },
          { scopeName: 'BestEffort', operator: 'In', values: ['x'] },
          { scopeName: 'PriorityClass', operator: 'Exists', values: ['x'] },
          { scopeName: 'PriorityClass', operator: 'Near' },
        ],
      },
    },
    'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Odd": unsupported scope',
    'spec.scopeSelector.matchExpressions.values: Required value: must be at least one value',
    `spec.scopeSelector.matchExpressions.operator: Invalid value: "In": ${existsOnly}`,
    'spec.scopeSelector.matchExpressions.values: Invalid value: ["x"]: must be no value',
    'spec.scopeSelector.matchExpressions.operator: Invalid value: "Near": not a valid selector operator',
  ],
]

for (const [spec, ...expected] of rows) {
  test(`a quota: ${rowTitle(spec, expected)}`, () => expectErrors(validateCreation(resourceQuota, make(spec), context), expected))
}

const changes: readonly (readonly [next: readonly string[], old: readonly string[], ...expected: readonly string[]])[] = [
  [
    ['Terminating', 'BestEffort'],
    ['BestEffort', 'Terminating'],
  ],
  [['Terminating'], [], 'spec.scopes: Invalid value: ["Terminating"]: field is immutable'],
  [[], ['Terminating'], 'spec.scopes: Invalid value: []: field is immutable'],
]

for (const [next, old, ...expected] of changes) {
  test(`scopes on update: ${rowTitle(next, expected)}`, () =>
    expectErrors(validateChange(resourceQuota, { next: make({ scopes: next }), old: make({ scopes: old }) }, context), expected))
}

test('the status subresource keeps the spec and is validated', () => {
  const [status] = resourceQuota.subresources ?? []
  assert.ok(status !== undefined)
  const sent = make({ hard: { pods: '9' } }, { hard: { pods: '1' }, used: { pods: '-1', odd: '1' } })
  const next = status.prepareUpdate(sent, make({ hard: { pods: '1' } }), context)
  assert.deepEqual((next as ResourceQuota).spec, { hard: { pods: '1' } })
  expectErrors(validateChange(resourceQuota, { next, old: make(), subresource: status }, context), [
    'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
    'status.used[odd]: Invalid value: "odd": must be a standard resource type or fully qualified',
    'status.used[odd]: Invalid value: "odd": must be a standard resource for quota',
  ])
  assert.deepEqual(resourceQuota.prepareCreate?.(sent, context), { ...sent, status: {} })
  assert.deepEqual(resourceQuota.prepareUpdate?.(sent, make({}, { used: { pods: '5' } }), context), {
    ...sent,
    status: { used: { pods: '5' } },
  })
})

test('quantities are rounded up to thousandths in spec and status', () => {
  const sent = make({ hard: { cpu: '1u' } }, { hard: { cpu: '1n' }, used: { cpu: '1' } })
  const kept = { metadata, spec: { hard: { cpu: '1m' } }, status: { hard: { cpu: '1m' }, used: { cpu: '1' } } }
  assert.deepEqual(resourceQuota.defaults?.(sent, context), kept)
})

test('printer columns have requests and limits', () => {
  const object = make({}, { hard: { pods: '10', 'limits.cpu': '4', 'count/a.b': '1' }, used: { pods: '3' } })
  assert.deepEqual(resourceQuota.table?.cells(object, context), ['q', '60m', 'count/a.b: 0/1, pods: 3/10', 'limits.cpu: 0/4'])
})
