// Tests of Deployments: defaults, strategy, selector, generation, scale, status, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scale } from '../autoscaling/v1.schema.js'
import type { Row } from '../core/pod-spec/pod-spec.fixture.js'
import { selector, template, testMetadata, writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { deployment } from './deployment.js'
import type { Deployment, DeploymentSpec, DeploymentStatus } from './v1.schema.js'

const { kind, context, complete, create, update, part, createErrors, updateErrors, statusErrors, cells } = writerOf<Deployment>(deployment)
const make = (more: DeploymentSpec = {}): Deployment => ({ spec: { selector, template: template(), ...more } })

test('defaults', () => {
  const { spec = {} } = complete(make())
  const { template: pods, ...rest } = spec
  assert.deepEqual(rest, {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    selector,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
  })
  assert.equal(pods?.spec?.restartPolicy, 'Always')
  assert.deepEqual(complete(make({ strategy: { type: 'Recreate' } })).spec?.strategy, { type: 'Recreate' })
})

test('the rollback annotation belongs to the spec', () => {
  const key = 'deprecated.deployment.rollback.to'
  const annotated = (annotations: { readonly [name: string]: string } | undefined): Deployment => ({
    ...make(),
    metadata: { ...testMetadata, ...(annotations === undefined ? {} : { annotations }) },
  })
  assert.deepEqual(
    createErrors(annotated({ [key]: '-1' })).map(({ field }) => field),
    ['spec.rollback.version'],
  )
  assert.deepEqual(createErrors(annotated({ [key]: '3' })), [])
  const old = create(annotated({ [key]: '3' }))
  const reported = (next: Deployment, before: Deployment) => part('status').prepareUpdate(next, before, context).metadata?.annotations
  assert.deepEqual(reported(annotated(undefined), old), { [key]: '3' })
  assert.deepEqual(reported(annotated({ [key]: '4', a: 'b' }), old), { [key]: '3', a: 'b' })
  assert.deepEqual(reported(annotated({ [key]: '4', a: 'b' }), create(make())), { a: 'b' })
  assert.equal(reported(annotated({ [key]: '4' }), create(make())), undefined)
  assert.deepEqual(complete(annotated({ [key]: '+07' })).metadata?.annotations, { [key]: '7' })
  assert.deepEqual(complete(annotated({ [key]: '', a: 'b' })).metadata?.annotations, { a: 'b' })
  assert.equal(complete(annotated({ [key]: '' })).metadata?.annotations, undefined)
})

const rows: readonly Row<DeploymentSpec>[] = [
  [make().spec ?? {}],
  [
    {},
    'spec.selector: Required value',
    'spec.template.metadata.labels: Invalid value: "null": `selector` does not match template `labels`',
    'spec.template.spec.containers: Required value',
  ],
  [
    { selector: { matchLabels: { app: 'b' } }, template: template() },
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  ],
  [{ selector: {}, template: template() }, 'spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  [
    { selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] }, template: {} },
    'spec.selector.matchExpressions[0].operator: Invalid value: "Near"',
    'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Near"}]}: invalid label selector',
  ],
  [
    { selector, template: template(), replicas: -1, minReadySeconds: 5, progressDeadlineSeconds: 5, revisionHistoryLimit: -1 },
    'spec.replicas: Invalid value: -1',
    'spec.revisionHistoryLimit: Invalid value: -1',
    'spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds',
  ],
  [
    { selector, template: template(), strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ],
  [
    { selector, template: template(), strategy: { type: 'Hope' } },
    'spec.strategy: Unsupported value: {"type":"Hope"}: supported values: "Recreate", "RollingUpdate"',
  ],
  [
    { selector, template: template(), strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
  ],
  [
    { selector, template: template(), strategy: { rollingUpdate: { maxSurge: 'half', maxUnavailable: '101%' } } },
    'spec.strategy.rollingUpdate.maxSurge: Invalid value: "half": a valid percent string',
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
  ],
  [
    {
      selector,
      replicas: 2,
      template: template({
        restartPolicy: 'OnFailure',
        activeDeadlineSeconds: 5,
        volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }],
      }),
    },
    'spec.template.spec.volumes[0].gcePersistentDisk.readOnly: Invalid value: false: must be true for replicated pods > 1',
    'spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
  ],
  [
    {
      selector,
      template: {
        metadata: { labels: { app: 'a', b: 'not ok' }, annotations: { 'a b': '' } },
        spec: { containers: [{ name: 'c', image: 'i' }], ephemeralContainers: [{ name: 'e', image: 'i' }] },
      },
    },
    'spec.template.labels: Invalid value: "not ok"',
    'spec.template.annotations: Invalid value: "a b"',
    'spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
  ],
]
for (const [given, ...expected] of rows)
  test(`create: ${rowTitle(given, expected)}`, () => expectErrors(createErrors({ spec: given }), expected))

test('a new Deployment has generation 1 and no status', () => {
  const created = create({ ...make(), status: { replicas: 3 } })
  assert.equal(created.metadata?.generation, 1)
  assert.deepEqual(created.status, {})
})

test('spec and annotations increase the generation; labels and equivalent specs do not', () => {
  const old = create(make())
  const generation = (next: Deployment): number | undefined => update(next, old).metadata?.generation
  assert.equal(generation({ ...make({ replicas: 0 }), metadata: old.metadata ?? {} }), 2)
  assert.equal(generation({ ...make(), metadata: { ...old.metadata, annotations: { a: 'b' } } }), 2)
  assert.equal(generation({ ...make(), metadata: { ...old.metadata, labels: { a: 'b' } } }), 1)
  assert.equal(
    generation({
      ...make({ template: template({ containers: [{ name: 'c', image: 'i', resources: {} }] }) }),
      metadata: old.metadata ?? {},
    }),
    1,
  )
})

test('the selector is immutable', () => {
  const old = create(make())
  const labels = { app: 'a', more: 'x' }
  const next = make({ selector: { matchLabels: labels }, template: { ...template(), metadata: { labels } } })
  expectErrors(updateErrors(next, old), ['spec.selector: Invalid value: {"matchLabels":{"app":"a","more":"x"}}: field is immutable'])
})

const statusRows: readonly Row<DeploymentStatus>[] = [
  [{ replicas: 3, readyReplicas: 2, availableReplicas: 1, collisionCount: 2 }],
  [
    { replicas: 2, readyReplicas: 3, availableReplicas: 4, updatedReplicas: -1, collisionCount: 1 },
    'status.updatedReplicas: Invalid value: -1',
    'status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 4: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 4: cannot be greater than readyReplicas',
    'status.collisionCount: Invalid value: 1: cannot be decremented',
  ],
  [{}, 'status.collisionCount: Invalid value: 0: cannot be decremented'],
]
for (const [given, ...expected] of statusRows) {
  test(`a status: ${rowTitle(given, expected)}`, () =>
    expectErrors(statusErrors({ ...make(), status: given }, { ...create(make()), status: { collisionCount: 2 } }), expected))
}

test('a status update keeps spec and labels', () => {
  const old = create(make())
  const next = part('status').prepareUpdate(
    { metadata: { ...testMetadata, labels: { a: 'b' } }, spec: {}, status: { replicas: 1 } },
    old,
    context,
  )
  assert.equal(next.spec, old.spec)
  assert.equal(next.metadata?.labels, undefined)
  assert.deepEqual(part('status').resetFields, ['spec', 'metadata.labels'])
})

test('Scale reads and writes the replicas', () => {
  const { view } = part('scale')
  const object = {
    ...create(make({ replicas: 2, selector: { ...selector, matchExpressions: [{ key: 'zone', operator: 'In', values: ['b', 'a'] }] } })),
    status: { replicas: 1 },
  }
  assert.deepEqual(view?.read(object), {
    metadata: testMetadata,
    spec: { replicas: 2 },
    status: { replicas: 1, selector: 'app=a,zone in (a,b)' },
  })
  const scale = (replicas?: number): Scale => ({ metadata: testMetadata, spec: replicas === undefined ? {} : { replicas } })
  assert.equal(view?.write(scale(4), object, context).spec?.replicas, 4)
  assert.equal(view?.write(scale(), object, context).spec?.replicas, 0)
  expectErrors(view?.validate?.(scale(-4), context) ?? [], ['spec.replicas: Invalid value: -4: must be greater than or equal to 0'])
  assert.deepEqual(view?.table?.cells(scale(4), context), ['a', 4, 0, '90s'])
})

test('a Scale update validates the Deployment and increases the generation', () => {
  const old = create(make())
  const next = part('scale').prepareUpdate({ ...old, spec: { ...old.spec, replicas: 5 } }, old, context)
  assert.equal(next.metadata?.generation, 2)
  expectErrors(part('scale').validateUpdate?.(next, old, context) ?? [], [])
})

test('printer columns have counts, containers, images and selector', () => {
  const object = { ...make({ replicas: 3 }), status: { readyReplicas: 2, updatedReplicas: 1, availableReplicas: 1 } }
  assert.deepEqual(cells(object), ['a', '2/3', 1, 1, '90s', 'c', 'i', 'app=a'])
})

test('a template with deprecated fields gets warnings once', () => {
  const old = create(make({ template: template({ volumes: [{ name: 'g', gitRepo: { repository: 'x' } }] }) }))
  assert.deepEqual(kind.warnings?.(old, undefined, context), ['spec.template.spec.volumes[0].gitRepo: deprecated in v1.11'])
  assert.deepEqual(kind.warnings?.(old, old, context), [])
})
