// Jobs: defaults, the selector that is made for them, rules of completion and failure, what may change, status and row.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testNow } from '../../api/rule-context.fixture.js'
import { timeOf } from '../../schema/scalars.js'
import { assertFound, contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import type { PodSpec } from '../core/v1.schema.js'
import { testMetadata, writerOf } from '../core/workload.fixture.js'
import { job } from './job.js'
import type { Job, JobSpec, JobStatus, PodFailurePolicyRule } from './v1.schema.js'

const { kind, complete, create, update, isComplete, createErrors, updateErrors, statusErrors, cells } = writerOf<Job>(job)
type Labels = { readonly [key: string]: string }

const template = (more: PodSpec = {}) => ({ spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], ...more } })
const make = (more: JobSpec = {}): Job => ({ spec: { template: template(), ...more } })

const defaults: readonly { readonly title: string; readonly given: JobSpec; readonly filled: JobSpec }[] = [
  { title: 'neither size', given: {}, filled: { parallelism: 1, completions: 1 } },
  { title: 'how many at once', given: { parallelism: 3 }, filled: { parallelism: 3 } },
  { title: 'how many', given: { completions: 3 }, filled: { parallelism: 1, completions: 3 } },
]
for (const { title, given, filled } of defaults) {
  test(`a job that says ${title} is completed`, () => {
    const { template: _, ...rest } = complete(make(given)).spec ?? {}
    assert.deepEqual(rest, { ...filled, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false })
  })
}

test('conditions of failures are true unless said otherwise', () => {
  const rules: readonly PodFailurePolicyRule[] = [{ action: 'Ignore', onPodConditions: [{ type: 'a' }, { type: 'b', status: 'False' }] }]
  const filled = complete(make({ podFailurePolicy: { rules } }))
  assert.deepEqual(filled.spec?.podFailurePolicy?.rules?.[0]?.onPodConditions, [
    { type: 'a', status: 'True' },
    { type: 'b', status: 'False' },
  ])
  assert.ok(isComplete(filled))
})

const labelled: readonly { readonly title: string; readonly own?: Labels; readonly pods: Labels; readonly wanted: Labels }[] = [
  { title: 'none', pods: { a: 'b' }, wanted: { a: 'b', 'controller-uid': 'u', 'job-name': 'a' } },
  { title: 'its own', own: { c: 'd' }, pods: { a: 'b' }, wanted: { c: 'd' } },
]
for (const { title, own, pods, wanted } of labelled) {
  test(`a job with labels: ${title}`, () => {
    const metadata = own === undefined ? testMetadata : { ...testMetadata, labels: own }
    assert.deepEqual(create({ ...make({ template: { ...template(), metadata: { labels: pods } } }), metadata }).metadata?.labels, wanted)
  })
}

test('a new job finds its pods by its uid, and has their labels', () => {
  const made = create(make())
  const labels = { 'controller-uid': 'u', 'job-name': 'a' }
  assert.deepEqual(made.spec?.selector, { matchLabels: { 'controller-uid': 'u' } })
  assert.deepEqual(made.spec?.template?.metadata?.labels, labels)
  assert.deepEqual(made.metadata?.labels, labels)
  assert.deepEqual(made.metadata?.annotations, { 'batch.cluster.io/job-tracking': '' })
  assert.deepEqual([made.metadata?.generation, made.status], [1, {}])
})

const policy = (...rules: readonly PodFailurePolicyRule[]): JobSpec => ({ template: template(), podFailurePolicy: { rules } })
const rule = 'spec.podFailurePolicy.rules[0]'
const restart = 'spec.template.spec.restartPolicy'
const rows: readonly Row<JobSpec>[] = [
  { title: 'nothing wrong', given: { template: template() }, found: [] },
  {
    title: 'nothing at all',
    given: {},
    found: ['spec.template.spec.containers: Required value', `${restart}: Required value: valid values: "OnFailure", "Never"`],
  },
  {
    title: 'an unknown policy',
    given: { template: template({ restartPolicy: 'Maybe' }) },
    found: [`${restart}: Unsupported value: "Maybe"`, `${restart}: Unsupported value: "Maybe": supported values: "OnFailure", "Never"`],
  },
  {
    title: 'wrong numbers',
    given: {
      template: template(),
      parallelism: -1,
      completions: -1,
      backoffLimit: -1,
      activeDeadlineSeconds: -1,
      ttlSecondsAfterFinished: -1,
    },
    found: [
      'spec.parallelism: Invalid',
      'spec.completions: Invalid',
      'spec.activeDeadlineSeconds: Invalid',
      'spec.backoffLimit: Invalid',
      'spec.ttlSecondsAfterFinished: Invalid',
    ],
  },
  {
    title: 'an unknown mode',
    given: { template: template(), completionMode: 'Random' },
    found: ['spec.completionMode: Unsupported value: "Random": supported values: "NonIndexed", "Indexed"'],
  },
  {
    title: 'indices without a number and too many at once',
    given: { template: template(), completionMode: 'Indexed', parallelism: 100_001 },
    found: [
      'spec.completions: Required value: when completion mode is Indexed',
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ],
  },
  {
    title: 'a selector by hand',
    given: { template: template(), selector: { matchLabels: { a: 'b' } } },
    found: [
      'spec.selector: Invalid value: {"matchLabels":{"controller-uid":"u","a":"b"}}: `selector` not auto-generated',
      'spec.template.metadata.labels: Invalid value',
    ],
  },
  {
    title: 'a selector by hand that is meant',
    given: { template: template(), manualSelector: true, selector: { matchLabels: { a: 'b' } } },
    found: ['spec.template.metadata.labels: Invalid value: "null"'],
  },
  {
    title: 'no selector by hand',
    given: { template: template(), manualSelector: true },
    found: ['spec.selector: Required value', 'spec.template.metadata.labels: Invalid'],
  },
  {
    title: 'labels of another job',
    given: { template: { ...template(), metadata: { labels: { 'job-name': 'b' } } } },
    found: ['spec.template.metadata.labels[job-name]: Invalid value: {"controller-uid":"u","job-name":"b"}: must be \'a\''],
  },
  {
    title: 'failures judged wrongly',
    given: policy({ action: 'Panic', onExitCodes: { operator: 'In', values: [0, 3, 1, 3], containerName: 'gone' } }, { action: 'Ignore' }),
    found: [
      `${rule}.action: Unsupported value: "Panic": supported values: "Count", "FailJob", "Ignore"`,
      `${rule}.onExitCodes.containerName: Invalid value: "gone": must be one of the container`,
      `${rule}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
      `${rule}.onExitCodes.values[3]: Duplicate value: 3`,
      `${rule}.onExitCodes.values: Invalid value: [0,3,1,3]: must be ordered`,
      'spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
    ],
  },
  {
    title: 'failures judged twice',
    given: policy({ onExitCodes: {}, onPodConditions: [{ type: 'a b', status: 'Maybe' }] }),
    found: [
      `${rule}.action: Required value: valid values: ["Count" "FailJob" "Ignore"]`,
      `${rule}.onExitCodes.operator: Required value: valid values: ["In" "NotIn"]`,
      `${rule}.onExitCodes.values: Invalid value: []: at least one value is required`,
      `${rule}.onPodConditions[0].type: Invalid value: "a b"`,
      `${rule}.onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
      `${rule}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported`,
    ],
  },
  {
    title: 'failures hidden by restarts',
    given: {
      ...policy({ action: 'Count', onExitCodes: { operator: 'NotIn', values: [0] } }),
      template: template({ restartPolicy: 'OnFailure' }),
    },
    found: [`${restart}: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`],
  },
  {
    title: 'too many rules',
    given: policy(...Array.from({ length: 21 }, () => ({ action: 'Count', onPodConditions: [{ type: 'a' }] }))),
    found: ['spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items'],
  },
  {
    title: 'too many conditions',
    given: policy({ action: 'Count', onPodConditions: new Array(21).fill({ type: 'a' }) }),
    found: [`${rule}.onPodConditions: Too many: 21: must have at most 20 items`],
  },
]
for (const { title, given, found } of rows) test(`create with ${title}`, () => assertFound(createErrors({ spec: given }), found))

test('the longest name of a pod of an indexed job must be a host', () => {
  const metadata = { ...testMetadata, name: 'n'.repeat(62) }
  const indexed = { ...make({ completionMode: 'Indexed', completions: 3 }), metadata }
  assertFound(createErrors(indexed), [
    `metadata.name: Invalid value: "${metadata.name}": will not able to create pod with invalid DNS label: ${metadata.name}-2`,
  ])
})

test('without the feature, failures are not judged', () => {
  const without = writerOf<Job>(job, contextWith({ gates: () => false }))
  assert.equal(without.create({ spec: policy({ action: 'Panic' }) }).spec?.podFailurePolicy, undefined)
})

/** A change as a client would send it: what is stored, with something else in it. */
const changed = (old: Job, spec: JobSpec): Job => ({ ...old, spec: { ...old.spec, ...spec } })
const placed = template({ nodeSelector: { a: 'b' }, tolerations: [{ key: 'a', operator: 'Exists' }], affinity: { nodeAffinity: {} } })
const changes: readonly {
  readonly title: string
  readonly old?: JobSpec
  readonly status?: JobStatus
  readonly next: (old: Job) => JobSpec
  readonly found: readonly string[]
}[] = [
  { title: 'its size at a time and rest', next: () => ({ parallelism: 4, suspend: true, backoffLimit: 1 }), found: [] },
  { title: 'how many', next: () => ({ completions: 3 }), found: ['spec.completions: Invalid value: 3: field is immutable'] },
  {
    title: 'its mode',
    next: () => ({ completionMode: 'Indexed' }),
    found: ['spec.completionMode: Invalid value: "Indexed": field is immutable'],
  },
  {
    title: 'its pods',
    next: (old) => ({ template: { ...old.spec?.template, spec: { ...old.spec?.template?.spec, hostname: 'h' } } }),
    found: ['spec.template: Invalid value'],
  },
  {
    title: 'where it runs',
    next: (old) => ({ template: { ...old.spec?.template, spec: { ...old.spec?.template?.spec, ...placed.spec } } }),
    found: ['spec.template: Invalid value'],
  },
  {
    title: 'where it will run, while it waits',
    old: { suspend: true },
    next: (old) => ({ template: { ...old.spec?.template, spec: { ...old.spec?.template?.spec, ...placed.spec } } }),
    found: [],
  },
  {
    title: 'where it runs, once it ran',
    old: { suspend: true },
    status: { startTime: timeOf(testNow) },
    next: (old) => ({ template: { ...old.spec?.template, spec: { ...old.spec?.template?.spec, ...placed.spec } } }),
    found: ['spec.template: Invalid value'],
  },
]
for (const { title, old: before = {}, status = {}, next, found } of changes) {
  test(`update of ${title}`, () => {
    const old = { ...create(make(before)), status }
    assertFound(updateErrors(changed(old, next(old)), old), found)
  })
}

test('a change raises the generation and keeps the status', () => {
  const old = { ...create(make()), status: { active: 1 } }
  const next = update({ ...changed(old, { suspend: true }), status: {} }, old)
  assert.deepEqual([next.metadata?.generation, next.status], [2, { active: 1 }])
})

test('the mark of how pods are counted comes back when it is taken away', () => {
  const old = create(make())
  const next = update({ ...old, metadata: { ...old.metadata, annotations: { own: 'x' } } }, old)
  assert.deepEqual(next.metadata?.annotations, { own: 'x', 'batch.cluster.io/job-tracking': '' })
  const unmarked = { ...old, metadata: { ...old.metadata, annotations: {} } }
  assert.deepEqual(update(unmarked, unmarked).metadata?.annotations, {})
})

test('a status that counts wrong', () => {
  const status = { active: -1, ready: -1, uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } }
  assertFound(statusErrors({ ...make(), status }, create(make())), [
    'status.active: Invalid value: -1',
    'status.ready: Invalid value: -1',
    'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
    'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
  ])
})

const began = timeOf(testNow - 65_000)
const shown: readonly { readonly title: string; readonly job: Job; readonly wanted: readonly string[] }[] = [
  { title: 'waits', job: make(), wanted: ['0/1', ''] },
  { title: 'runs', job: { ...make({ completions: 3 }), status: { succeeded: 1, startTime: began } }, wanted: ['1/3', '65s'] },
  {
    title: 'is done',
    job: { ...make(), status: { succeeded: 1, startTime: began, completionTime: timeOf(testNow - 60_000) } },
    wanted: ['1/1', '5s'],
  },
  { title: 'works off a queue', job: make({ parallelism: 3 }), wanted: ['0/1 of 3', ''] },
]
for (const { title, job: object, wanted } of shown) {
  test(`a job that ${title} is shown so`, () => assert.deepEqual(cells(object), ['a', ...wanted, '90s', 'c', 'i', '<none>']))
}

test('pods outlive their job unless said otherwise, and jobs are found by success', () => {
  assert.match(kind.orphansByDefault?.warning ?? '', /^child pods are preserved by default/)
  assert.equal(kind.selectableFields?.['status.successful']?.({ status: { succeeded: 2 } }), '2')
  assert.equal(kind.refuseField?.('spec.x'), 'field label "spec.x" not supported for batchv1.Job')
})
