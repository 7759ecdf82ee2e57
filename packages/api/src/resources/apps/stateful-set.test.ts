// Tests of StatefulSets: defaults, immutable fields, feature gates, status, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { selector, template, writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { statefulSet } from './stateful-set.js'
import type { StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from './v1.schema.js'

const withoutGates = contextWith({ gates: () => false })
const { kind, complete, isComplete, create, part, createErrors, updateErrors, statusErrors, cells } = writerOf<StatefulSet>(
  statefulSet,
  withoutGates,
)
const gated = writerOf<StatefulSet>(statefulSet)
const make = (more: StatefulSetSpec = {}): StatefulSet => ({ spec: { selector, template: template(), serviceName: 's', ...more } })

const strategies: readonly (readonly [title: string, filled: StatefulSetUpdateStrategy, given?: StatefulSetUpdateStrategy | undefined])[] =
  [
    ['no fields', { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }],
    ['type RollingUpdate only', { type: 'RollingUpdate' }, { type: 'RollingUpdate' }],
    ['rollingUpdate only', { type: 'RollingUpdate', rollingUpdate: { partition: 2 } }, { rollingUpdate: { partition: 2 } }],
    ['type OnDelete', { type: 'OnDelete' }, { type: 'OnDelete' }],
  ]
for (const [title, filled, given] of strategies) {
  test(`an update strategy with ${title} is defaulted`, () =>
    assert.deepEqual(complete(make(given === undefined ? {} : { updateStrategy: given })).spec?.updateStrategy, filled))
}

test('other defaults, with and without feature gates', () => {
  const { spec } = complete(make())
  assert.deepEqual([spec?.replicas, spec?.podManagementPolicy, spec?.revisionHistoryLimit], [1, 'OrderedReady', 10])
  assert.equal(spec?.persistentVolumeClaimRetentionPolicy, undefined)
  const gatedSpec = gated.complete(make()).spec
  assert.deepEqual(gatedSpec?.persistentVolumeClaimRetentionPolicy, { whenDeleted: 'Retain', whenScaled: 'Retain' })
  assert.deepEqual(gatedSpec?.updateStrategy?.rollingUpdate, { partition: 0, maxUnavailable: 1 })
})

test('claim templates get apiVersion, kind and status', () => {
  const claims = [{ metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'] } }]
  const set = complete(make({ volumeClaimTemplates: claims }))
  assert.deepEqual(set.spec?.volumeClaimTemplates, [
    {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { name: 'v' },
      spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  ])
  assert.ok(isComplete(set))
})

const rows: readonly Row<StatefulSetSpec>[] = [
  [{ selector, template: template({ containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] }) }],
  [
    { selector, template: template(), podManagementPolicy: 'Chaos', updateStrategy: { type: 'Hope' } },
    "spec.podManagementPolicy: Invalid value: \"Chaos\": must be 'OrderedReady' or 'Parallel'",
    'spec.updateStrategy: Invalid value: {"type":"Hope"}: must be \'RollingUpdate\' or \'OnDelete\'',
  ],
  [
    { selector, template: template(), updateStrategy: { type: 'OnDelete', rollingUpdate: {} } },
    "spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'",
  ],
  [
    { selector, template: template(), replicas: -1, minReadySeconds: -1, updateStrategy: { rollingUpdate: { partition: -1 } } },
    'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1',
    'spec.replicas: Invalid value: -1',
    'spec.minReadySeconds: Invalid value: -1',
  ],
  [{}, 'spec.selector: Required value', 'spec.template.metadata.labels: Invalid value: "null"'],
]
for (const [given, ...expected] of rows)
  test(`create: ${rowTitle(given, expected)}`, () => expectErrors(createErrors({ spec: given }), expected))

test('feature-gated fields are validated if the gate is on, and dropped otherwise', () => {
  const spec: StatefulSetSpec = {
    ordinals: { start: -1 },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Burn' },
    updateStrategy: { rollingUpdate: { maxUnavailable: '0%' } },
  }
  expectErrors(gated.createErrors(make(spec)), [
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0%": cannot be 0',
    'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Burn": supported values: "Retain", "Delete"',
    'spec.ordinals.start: Invalid value: -1',
  ])
  const dropped = create(make(spec)).spec
  assert.deepEqual(
    [dropped?.ordinals, dropped?.persistentVolumeClaimRetentionPolicy, dropped?.updateStrategy?.rollingUpdate],
    [undefined, undefined, { partition: 0 }],
  )
})

const problem =
  "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
const changes: readonly Row<StatefulSetSpec>[] = [
  [{ replicas: 3, updateStrategy: { type: 'OnDelete' }, minReadySeconds: 2, template: template({ hostname: 'h' }) }],
  [{ serviceName: 't' }, problem],
  [{ podManagementPolicy: 'Parallel' }, problem],
  [{ revisionHistoryLimit: 3 }, problem],
  [{ volumeClaimTemplates: [{ metadata: { name: 'v' } }] }, problem],
]
for (const [given, ...expected] of changes)
  test(`update: ${rowTitle(given, expected)}`, () => expectErrors(updateErrors(make(given), create(make())), expected))

test('status counts are validated', () => {
  const status = { replicas: 1, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 3, observedGeneration: -1 }
  expectErrors(statusErrors({ ...make(), status }, create(make())), [
    'status.observedGeneration: Invalid value: -1',
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.currentReplicas: Invalid value: 2',
    'status.updatedReplicas: Invalid value: 2',
    'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 3: cannot be greater than status.readyReplicas',
  ])
})

test('Scale and printer columns', () => {
  const view = part('scale').view?.read(create(make())) as { readonly status: unknown }
  assert.deepEqual(view.status, { replicas: 0, selector: 'app=a' })
  assert.deepEqual(cells({ ...make({ replicas: 3 }), status: { readyReplicas: 1 } }), ['a', '1/3', '90s', 'c', 'i'])
})

test('fractional bytes in a claim template get a warning', () => {
  const set = create(make({ volumeClaimTemplates: [{ spec: { resources: { requests: { storage: '100m' } } } }] }))
  const warningsAt = (path: string): readonly string[] => [
    `${path}.resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer`,
  ]
  assert.deepEqual(kind.warnings?.(set, undefined, withoutGates), warningsAt('spec.volumeClaimTemplates[0]'))
  assert.deepEqual(kind.warnings?.(set, set, withoutGates), warningsAt('spec.volumeClaimTemplates[0].Spec'))
})
