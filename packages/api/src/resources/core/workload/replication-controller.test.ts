// Tests of ReplicationControllers and PodTemplates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '../../../api/rule-context.fixture.js'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { Row } from '../pod-spec/pod-spec.fixture.js'
import type { PodTemplate, ReplicationController, ReplicationControllerSpec } from '../v1.schema.js'
import { podTemplate } from './pod-template.js'
import { replicationController } from './replication-controller.js'
import { template, testMetadata, writerOf } from './workload.fixture.js'

const { kind, complete, isComplete, create, update, part, createErrors, updateErrors, statusErrors, cells } =
  writerOf<ReplicationController>(replicationController)
const context = testContext()
const make = (more: ReplicationControllerSpec = {}): ReplicationController => ({ spec: { template: template(), ...more } })

test('selector and labels default to the labels of the template', () => {
  const { metadata, spec } = complete(make())
  assert.deepEqual([spec?.selector, metadata?.labels, spec?.replicas], [{ app: 'a' }, { app: 'a' }, 1])
  const explicit = complete({ ...make({ selector: { b: 'c' } }), metadata: { ...testMetadata, labels: { d: 'e' } } })
  assert.deepEqual([explicit.spec?.selector, explicit.metadata?.labels], [{ b: 'c' }, { d: 'e' }])
  assert.ok(isComplete(explicit))
})

const rows: readonly Row<ReplicationControllerSpec>[] = [
  [{ template: template() }],
  [{}, 'spec.selector: Required value', 'spec.template: Required value'],
  [
    { template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 1 }), selector: { b: 'c' }, replicas: -1, minReadySeconds: -1 },
    'spec.minReadySeconds: Invalid value: -1',
    'spec.replicas: Invalid value: -1',
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
    'spec.template.spec.restartPolicy: Unsupported value: "Never"',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
  ],
]
for (const [given, ...expected] of rows)
  test(`create: ${rowTitle(given, expected)}`, () => expectErrors(createErrors({ spec: given }), expected))

test('every field may change, and increases the generation', () => {
  const old = create(make())
  const next = make({ selector: { b: 'c' }, template: { ...template(), metadata: { labels: { b: 'c' } } } })
  expectErrors(updateErrors(next, old), [])
  assert.equal(update(next, old).metadata?.generation, 2)
})

test('status, Scale, printer columns and field selector', () => {
  const object = { ...make({ replicas: 3 }), status: { replicas: 2, readyReplicas: 3 } }
  expectErrors(statusErrors(object, create(make())), ['status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas'])
  const view = part('scale').view?.read(complete(object)) as { readonly status: unknown }
  assert.deepEqual(view.status, { replicas: 2, selector: 'app=a' })
  assert.deepEqual(cells(object), ['a', 3, 2, 3, '90s', 'c', 'i', 'app=a'])
  assert.equal(kind.selectableFields?.['status.replicas']?.(object), '2')
  assert.deepEqual(kind.orphansByDefault, {})
})

test('an update warns about the old template', () => {
  const old = create(make({ template: template({ volumes: [{ name: 'g', gitRepo: { repository: 'x' } }] }) }))
  const next = update({ ...make(), metadata: old.metadata ?? {} }, old)
  const warned = ['spec.template.spec.volumes[0].gitRepo: deprecated in v1.11']
  assert.deepEqual(kind.warnings?.(old, undefined, context), warned)
  assert.deepEqual(kind.warnings?.(next, old, context), warned)
})

const templates = writerOf<PodTemplate>(podTemplate)

test('a PodTemplate gets defaults, validation and a generation', () => {
  const old = templates.create({ template: template() })
  assert.equal(old.metadata?.generation, 1)
  assert.equal(old.template?.spec?.dnsPolicy, 'ClusterFirst')
  assert.equal(templates.update({ template: template(), metadata: { ...old.metadata, labels: { a: 'b' } } }, old).metadata?.generation, 1)
  assert.equal(templates.update({ template: template({ hostname: 'h' }), metadata: old.metadata ?? {} }, old).metadata?.generation, 2)
  expectErrors(templates.createErrors({ template: { spec: { restartPolicy: 'Whenever' } } }), [
    'template.spec.containers: Required value',
    'template.spec.restartPolicy: Unsupported value: "Whenever": supported values: "Always", "OnFailure", "Never"',
  ])
  expectErrors(templates.updateErrors({ template: {} }, old), ['template.spec.containers: Required value'])
  assert.deepEqual(templates.cells({ template: template() }), ['a', 'c', 'i', 'app=a'])
})
