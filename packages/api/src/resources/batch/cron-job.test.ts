// Tests of CronJobs: defaults, schedule and time zone, job template, warnings, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { testNow } from '../../api/rule-context.fixture.js'
import { timeOf } from '../../schema/scalars.js'
import { contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { testMetadata, writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { cronJob } from './cron-job.js'
import type { CronJob, CronJobSpec, JobSpec } from './v1.schema.js'

const { kind, complete, create, update, part, createErrors, updateErrors, cells } = writerOf<CronJob>(cronJob)
const jobTemplate = (more: JobSpec = {}) => ({
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }, ...more },
})
const make = (more: CronJobSpec = {}): CronJob => ({ spec: { schedule: '*/5 * * * *', jobTemplate: jobTemplate(), ...more } })

test('the pod template is defaulted, the job template is not', () => {
  const { jobTemplate: job, ...rest } = complete(make()).spec ?? {}
  assert.deepEqual(rest, {
    schedule: '*/5 * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  })
  assert.deepEqual(Object.keys(job?.spec ?? {}), ['template'])
  assert.equal(job?.spec?.template?.spec?.dnsPolicy, 'ClusterFirst')
})

const jobSpecField = 'spec.jobTemplate.spec'
const rows: readonly Row<CronJobSpec>[] = [
  [make({ timeZone: 'Europe/Paris' }).spec ?? {}],
  [
    {},
    'spec.schedule: Required value',
    `${jobSpecField}.template.spec.containers: Required value`,
    `${jobSpecField}.template.spec.restartPolicy: Required value`,
  ],
  [
    {
      schedule: 'every day',
      concurrencyPolicy: 'Maybe',
      startingDeadlineSeconds: -1,
      successfulJobsHistoryLimit: -1,
      jobTemplate: jobTemplate(),
    },
    'spec.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: [every day]',
    'spec.startingDeadlineSeconds: Invalid value: -1',
    'spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"',
    'spec.successfulJobsHistoryLimit: Invalid value: -1',
  ],
  [make({ timeZone: 'Mars/Base' }).spec ?? {}, 'spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'],
  [make({ timeZone: '' }).spec ?? {}, 'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
  [make({ timeZone: 'Local' }).spec ?? {}, 'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone'],
  [
    make({ timeZone: 'LOCAL' }).spec ?? {},
    'spec.timeZone: Invalid value: "LOCAL": timeZone must be an explicit time zone',
    'spec.timeZone: Invalid value: "LOCAL": unknown time zone LOCAL',
  ],
  [make({ timeZone: '../etc/passwd' }).spec ?? {}, 'spec.timeZone: Invalid value: "../etc/passwd": time: invalid location name'],
  [
    make({ schedule: 'TZ=UTC 0 0 * * *', timeZone: 'Europe/Paris' }).spec ?? {},
    'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
  ],
  [
    make({ jobTemplate: jobTemplate({ selector: { matchLabels: { a: '!' } }, manualSelector: true, parallelism: -1 }) }).spec ?? {},
    `${jobSpecField}.parallelism: Invalid value: -1`,
    `${jobSpecField}.selector: Invalid value: {"matchLabels":{"a":"!"}}: \`selector\` will be auto-generated`,
    `${jobSpecField}.manualSelector: Unsupported value: true: supported values: "nil", "false"`,
  ],
]
for (const [given, ...expected] of rows)
  test(`create: ${rowTitle(given, expected)}`, () => expectErrors(createErrors({ spec: given }), expected))

test('a new name has at most 52 characters', () => {
  const metadata = { ...testMetadata, name: 'n'.repeat(53) }
  expectErrors(createErrors({ ...make(), metadata }), [
    `metadata.name: Invalid value: "${metadata.name}": must be no more than 52 characters`,
  ])
  expectErrors(updateErrors({ ...make(), metadata }, create({ ...make(), metadata })), [])
})

test('an unchanged unknown time zone is accepted', () => {
  const old = create(make({ timeZone: 'Mars/Base' }))
  expectErrors(updateErrors(make({ timeZone: 'Mars/Base', suspend: true }), old), [])
  expectErrors(updateErrors(make({ timeZone: 'Mars/Town' }), old), ['spec.timeZone: Invalid value: "Mars/Town"'])
})

test('spec changes increase the generation; disabled feature gates drop fields; the status is not validated', () => {
  const old = create(make())
  assert.equal(update({ ...make({ suspend: true }), metadata: old.metadata ?? {} }, old).metadata?.generation, 2)
  assert.equal(writerOf<CronJob>(cronJob, contextWith({ gates: () => false })).create(make({ timeZone: 'UTC' })).spec?.timeZone, undefined)
  assert.equal(part('status').validateUpdate, undefined)
})

test('a time zone in the schedule gets a warning', () => {
  const zoned = create(make({ schedule: 'CRON_TZ=Europe/Paris 0 0 * * *' }))
  const warning =
    'CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
  assert.deepEqual(kind.warnings?.(zoned, zoned, contextWith({ identity: identityOf('kubernetes') })), [warning])
})

test('printer columns', () => {
  const object = { ...make({ suspend: true }), status: { active: [{ name: 'j' }], lastScheduleTime: timeOf(testNow - 30_000) } }
  assert.deepEqual(cells(object), ['a', '*/5 * * * *', 'True', 1, '30s', '90s', 'c', 'i', '<none>'])
  assert.deepEqual(cells(make()).slice(2, 5), ['False', 0, '<none>'])
})
