// Tests of Jobs: defaults, generated selector, validation, immutable fields, status, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testNow } from '../../api/rule-context.fixture.js'
import { timeOf } from '../../schema/scalars.js'
import { contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import type { PodSpec } from '../core/v1.schema.js'
import { testMetadata, writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { job } from './job.js'
import type { Job, JobSpec, JobStatus, PodFailurePolicyRule } from './v1.schema.js'

const { kind, complete, create, update, isComplete, createErrors, updateErrors, statusErrors, cells } = writerOf<Job>(job)
type Labels = { readonly [key: string]: string }

const template = (more: PodSpec = {}) => ({ spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], ...more } })
const make = (more: JobSpec = {}): Job => ({ spec: { template: template(), ...more } })

const defaults: readonly (readonly [title: string, given: JobSpec, filled: JobSpec])[] = [
  ['neither completions nor parallelism', {}, { parallelism: 1, completions: 1 }],
  ['parallelism only', { parallelism: 3 }, { parallelism: 3 }],
  ['completions only', { completions: 3 }, { parallelism: 1, completions: 3 }],
]
for (const [title, given, filled] of defaults) {
  test(`defaults of a Job with ${title}`, () => {
    const { template: _, ...rest } = complete(make(given)).spec ?? {}
    assert.deepEqual(rest, { ...filled, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false })
  })
}

test('podFailurePolicy conditions default to True', () => {
  const rules: readonly PodFailurePolicyRule[] = [{ action: 'Ignore', onPodConditions: [{ type: 'a' }, { type: 'b', status: 'False' }] }]
  const filled = complete(make({ podFailurePolicy: { rules } }))
  assert.deepEqual(filled.spec?.podFailurePolicy?.rules?.[0]?.onPodConditions, [
    { type: 'a', status: 'True' },
    { type: 'b', status: 'False' },
  ])
  assert.ok(isComplete(filled))
})

const labelRows: readonly (readonly [title: string, pods: Labels, expected: Labels, userLabels?: Labels | undefined])[] = [
  ['without labels, those of the template', { a: 'b' }, { a: 'b', 'controller-uid': 'u', 'job-name': 'a' }],
  ['labels of the user are kept', { a: 'b' }, { c: 'd' }, { c: 'd' }],
  ['labels of the user are kept if equal to those of the template', { a: 'b' }, { a: 'b' }, { a: 'b' }],
]
for (const [title, pods, expected, userLabels] of labelRows) {
  test(`labels of a Job: ${title}`, () => {
    const metadata = userLabels === undefined ? testMetadata : { ...testMetadata, labels: userLabels }
    assert.deepEqual(create({ ...make({ template: { ...template(), metadata: { labels: pods } } }), metadata }).metadata?.labels, expected)
  })
}

test('a new Job selects pods by its uid and gets their labels', () => {
  const created = create(make())
  const labels = { 'controller-uid': 'u', 'job-name': 'a' }
  assert.deepEqual(created.spec?.selector, { matchLabels: { 'controller-uid': 'u' } })
  assert.deepEqual(created.spec?.template?.metadata?.labels, labels)
  assert.deepEqual(created.metadata?.labels, labels)
  assert.deepEqual(created.metadata?.annotations, { 'batch.cluster.io/job-tracking': '' })
  assert.deepEqual([created.metadata?.generation, created.status], [1, {}])
})

const policy = (...rules: readonly PodFailurePolicyRule[]): JobSpec => ({ template: template(), podFailurePolicy: { rules } })
const rule = 'spec.podFailurePolicy.rules[0]'
const restart = 'spec.template.spec.restartPolicy'
const rows: readonly Row<JobSpec>[] = [
  [{ template: template() }],
  [{}, 'spec.template.spec.containers: Required value', `${restart}: Required value: valid values: "OnFailure", "Never"`],
  [
    { template: template({ restartPolicy: 'Maybe' }) },
    `${restart}: Unsupported value: "Maybe"`,
    `${restart}: Unsupported value: "Maybe": supported values: "OnFailure", "Never"`,
  ],
  [
    { template: template(), parallelism: -1, completions: -1, backoffLimit: -1, activeDeadlineSeconds: -1, ttlSecondsAfterFinished: -1 },
    'spec.parallelism: Invalid',
    'spec.completions: Invalid',
    'spec.activeDeadlineSeconds: Invalid',
    'spec.backoffLimit: Invalid',
    'spec.ttlSecondsAfterFinished: Invalid',
  ],
  [
    { template: template(), completionMode: 'Random' },
    'spec.completionMode: Unsupported value: "Random": supported values: "NonIndexed", "Indexed"',
  ],
  [
    { template: template(), completionMode: 'Indexed', parallelism: 100_001 },
    'spec.completions: Required value: when completion mode is Indexed',
    'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
  ],
  [
    { template: template(), selector: { matchLabels: { a: 'b' } } },
    'spec.selector: Invalid value: {"matchLabels":{"controller-uid":"u","a":"b"}}: `selector` not auto-generated',
    'spec.template.metadata.labels: Invalid value',
  ],
  [
    { template: template(), manualSelector: true, selector: { matchLabels: { a: 'b' } } },
    'spec.template.metadata.labels: Invalid value: "null"',
  ],
  [{ template: template(), manualSelector: true }, 'spec.selector: Required value', 'spec.template.metadata.labels: Invalid'],
  [
    { template: { ...template(), metadata: { labels: { 'job-name': 'b' } } } },
    'spec.template.metadata.labels[job-name]: Invalid value: {"controller-uid":"u","job-name":"b"}: must be \'a\'',
  ],
  [
    policy({ action: 'Panic', onExitCodes: { operator: 'In', values: [0, 3, 1, 3], containerName: 'gone' } }, { action: 'Ignore' }),
    `${rule}.action: Unsupported value: "Panic": supported values: "Count", "FailJob", "Ignore"`,
    `${rule}.onExitCodes.containerName: Invalid value: "gone": must be one of the container`,
    `${rule}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
    `${rule}.onExitCodes.values[3]: Duplicate value: 3`,
    `${rule}.onExitCodes.values: Invalid value: [0,3,1,3]: must be ordered`,
    'spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
  ],
  [
    policy({ onExitCodes: {}, onPodConditions: [{ type: 'a b', status: 'Maybe' }] }),
    `${rule}.action: Required value: valid values: ["Count" "FailJob" "Ignore"]`,
    `${rule}.onExitCodes.operator: Required value: valid values: ["In" "NotIn"]`,
    `${rule}.onExitCodes.values: Invalid value: []: at least one value is required`,
    `${rule}.onPodConditions[0].type: Invalid value: "a b"`,
    `${rule}.onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
    `${rule}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported`,
  ],
  [
    { ...policy({ action: 'Count', onExitCodes: { operator: 'NotIn', values: [0] } }), template: template({ restartPolicy: 'OnFailure' }) },
    `${restart}: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`,
  ],
  [
    policy(...Array.from({ length: 21 }, () => ({ action: 'Count', onPodConditions: [{ type: 'a' }] }))),
    'spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items',
  ],
  [
    policy({ action: 'Count', onPodConditions: new Array(21).fill({ type: 'a' }) }),
    `${rule}.onPodConditions: Too many: 21: must have at most 20 items`,
  ],
]
for (const [given, ...expected] of rows)
  test(`create: ${rowTitle(given, expected)}`, () => expectErrors(createErrors({ spec: given }), expected))

test('the longest pod name of an indexed Job must be a DNS label', () => {
  const metadata = { ...testMetadata, name: 'n'.repeat(62) }
  const indexed = { ...make({ completionMode: 'Indexed', completions: 3 }), metadata }
  expectErrors(createErrors(indexed), [
    `metadata.name: Invalid value: "${metadata.name}": will not able to create pod with invalid DNS label: ${metadata.name}-2`,
  ])
})

test('without the feature gate, podFailurePolicy is dropped', () => {
  const without = writerOf<Job>(job, contextWith({ gates: () => false }))
  assert.equal(without.create({ spec: policy({ action: 'Panic' }) }).spec?.podFailurePolicy, undefined)
})

/** An update as a client sends it: the stored object with changes. */
const changed = (old: Job, spec: JobSpec): Job => ({ ...old, spec: { ...old.spec, ...spec } })
const placed = template({ nodeSelector: { a: 'b' }, tolerations: [{ key: 'a', operator: 'Exists' }], affinity: { nodeAffinity: {} } })
const changes: readonly (readonly [
  next: (old: Job) => JobSpec,
  old: JobSpec | undefined,
  status: JobStatus | undefined,
  ...expected: readonly string[],
])[] = [
  [() => ({ parallelism: 4, suspend: true, backoffLimit: 1 }), undefined, undefined],
  [() => ({ completions: 3 }), undefined, undefined, 'spec.completions: Invalid value: 3: field is immutable'],
  [() => ({ completionMode: 'Indexed' }), undefined, undefined, 'spec.completionMode: Invalid value: "Indexed": field is immutable'],
  [
    (old) => ({ template: { ...old.spec?.template, spec: { ...old.spec?.template?.spec, hostname: 'h' } } }),
    undefined,
    undefined,
    'spec.template: Invalid value',
  ],
  [
    (old) => ({ template: { ...old.spec?.template, spec: { ...old.spec?.template?.spec, ...placed.spec } } }),
    undefined,
    undefined,
    'spec.template: Invalid value',
  ],
  [(old) => ({ template: { ...old.spec?.template, spec: { ...old.spec?.template?.spec, ...placed.spec } } }), { suspend: true }, undefined],
  [
    (old) => ({ template: { ...old.spec?.template, spec: { ...old.spec?.template?.spec, ...placed.spec } } }),
    { suspend: true },
    { startTime: timeOf(testNow) },
    'spec.template: Invalid value',
  ],
]
for (const [next, before = {}, status = {}, ...expected] of changes) {
  test(`update: ${rowTitle(next, expected)}`, () => {
    const old = { ...create(make(before)), status }
    expectErrors(updateErrors(changed(old, next(old)), old), expected)
  })
}

test('both validations of an update report a missing selector, after errors of the spec', () => {
  const old = create(make())
  const { selector: _, ...rest } = old.spec ?? {}
  const errors = ['spec.parallelism: Invalid', 'spec.selector: Required value', 'spec.template.metadata.labels: Invalid value']
  const changed = 'spec.selector: Invalid value: "null": field is immutable'
  expectErrors(updateErrors({ ...old, spec: { ...rest, parallelism: -1 } }, old), [...errors, ...errors, changed])
})

test('a spec change increases the generation and keeps the status', () => {
  const old = { ...create(make()), status: { active: 1 } }
  const next = update({ ...changed(old, { suspend: true }), status: {} }, old)
  assert.deepEqual([next.metadata?.generation, next.status], [2, { active: 1 }])
})

test('the job-tracking annotation cannot be removed', () => {
  const old = create(make())
  const next = update({ ...old, metadata: { ...old.metadata, annotations: { own: 'x' } } }, old)
  assert.deepEqual(next.metadata?.annotations, { own: 'x', 'batch.cluster.io/job-tracking': '' })
  const untracked = { ...old, metadata: { ...old.metadata, annotations: {} } }
  assert.deepEqual(update(untracked, untracked).metadata?.annotations, {})
})

test('status counts are validated', () => {
  const status = { active: -1, ready: -1, uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } }
  expectErrors(statusErrors({ ...make(), status }, create(make())), [
    'status.active: Invalid value: -1',
    'status.ready: Invalid value: -1',
    'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
    'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
  ])
})

const startTime = timeOf(testNow - 65_000)
const columnRows: readonly (readonly [title: string, job: Job, expected: readonly string[]])[] = [
  ['has not started', make(), ['0/1', '']],
  ['is running', { ...make({ completions: 3 }), status: { succeeded: 1, startTime } }, ['1/3', '65s']],
  ['is complete', { ...make(), status: { succeeded: 1, startTime, completionTime: timeOf(testNow - 60_000) } }, ['1/1', '5s']],
  ['has parallelism but no completions', make({ parallelism: 3 }), ['0/1 of 3', '']],
]
for (const [title, object, expected] of columnRows) {
  test(`printer columns of a Job that ${title}`, () => assert.deepEqual(cells(object), ['a', ...expected, '90s', 'c', 'i', '<none>']))
}

test('DELETE orphans pods by default, and status.successful can be selected', () => {
  assert.match(kind.orphansByDefault?.warning ?? '', /^child pods are preserved by default/)
  assert.equal(kind.selectableFields?.['status.successful']?.({ status: { succeeded: 2 } }), '2')
  assert.equal(kind.fieldRefusal?.('spec.x'), 'field label "spec.x" not supported for batchv1.Job')
})
