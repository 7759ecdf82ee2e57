// Cron jobs: defaults, schedules and zones, the jobs that they make, warnings and rows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { testNow } from '../../api/rule-context.fixture.js'
import { timeOf } from '../../schema/scalars.js'
import { assertFound, contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { testMetadata, writerOf } from '../core/workload.fixture.js'
import { cronJob } from './cron-job.js'
import type { CronJob, CronJobSpec, JobSpec } from './v1.schema.js'

const { kind, complete, create, update, part, createErrors, updateErrors, cells } = writerOf<CronJob>(cronJob)
const jobTemplate = (more: JobSpec = {}) => ({
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }, ...more },
})
const make = (more: CronJobSpec = {}): CronJob => ({ spec: { schedule: '*/5 * * * *', jobTemplate: jobTemplate(), ...more } })

test('defaults reach the pods, but not the jobs', () => {
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

const at = 'spec.jobTemplate.spec'
const rows: readonly Row<CronJobSpec>[] = [
  { title: 'nothing wrong', given: make({ timeZone: 'Europe/Paris' }).spec ?? {}, found: [] },
  {
    title: 'nothing at all',
    given: {},
    found: [
      'spec.schedule: Required value',
      `${at}.template.spec.containers: Required value`,
      `${at}.template.spec.restartPolicy: Required value`,
    ],
  },
  {
    title: 'a schedule that nobody reads, and wrong words and numbers',
    given: {
      schedule: 'every day',
      concurrencyPolicy: 'Maybe',
      startingDeadlineSeconds: -1,
      successfulJobsHistoryLimit: -1,
      jobTemplate: jobTemplate(),
    },
    found: [
      'spec.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: [every day]',
      'spec.startingDeadlineSeconds: Invalid value: -1',
      'spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"',
      'spec.successfulJobsHistoryLimit: Invalid value: -1',
    ],
  },
  {
    title: 'an unknown zone',
    given: make({ timeZone: 'Mars/Base' }).spec ?? {},
    found: ['spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'],
  },
  {
    title: 'no zone',
    given: make({ timeZone: '' }).spec ?? {},
    found: ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
  },
  {
    title: 'the zone of the server',
    given: make({ timeZone: 'Local' }).spec ?? {},
    found: ['spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone'],
  },
  {
    title: 'the zone of the server, misspelt',
    given: make({ timeZone: 'LOCAL' }).spec ?? {},
    found: [
      'spec.timeZone: Invalid value: "LOCAL": timeZone must be an explicit time zone',
      'spec.timeZone: Invalid value: "LOCAL": unknown time zone LOCAL',
    ],
  },
  {
    title: 'a zone that is a file elsewhere',
    given: make({ timeZone: '../etc/passwd' }).spec ?? {},
    found: ['spec.timeZone: Invalid value: "../etc/passwd": time: invalid location name'],
  },
  {
    title: 'two zones',
    given: make({ schedule: 'TZ=UTC 0 0 * * *', timeZone: 'Europe/Paris' }).spec ?? {},
    found: ['spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule'],
  },
  {
    title: 'a selector for all jobs',
    given: make({ jobTemplate: jobTemplate({ selector: { matchLabels: { a: '!' } }, manualSelector: true, parallelism: -1 }) }).spec ?? {},
    found: [
      `${at}.parallelism: Invalid value: -1`,
      `${at}.selector: Invalid value: {"matchLabels":{"a":"!"}}: \`selector\` will be auto-generated`,
      `${at}.manualSelector: Unsupported value: true: supported values: "nil", "false"`,
    ],
  },
]
for (const { title, given, found } of rows) test(`create with ${title}`, () => assertFound(createErrors({ spec: given }), found))

test('a name leaves room for the time, when it is new', () => {
  const metadata = { ...testMetadata, name: 'n'.repeat(53) }
  assertFound(createErrors({ ...make(), metadata }), [
    `metadata.name: Invalid value: "${metadata.name}": must be no more than 52 characters`,
  ])
  assertFound(updateErrors({ ...make(), metadata }, create({ ...make(), metadata })), [])
})

test('a zone that is no longer known may stay', () => {
  const old = create(make({ timeZone: 'Mars/Base' }))
  assertFound(updateErrors(make({ timeZone: 'Mars/Base', suspend: true }), old), [])
  assertFound(updateErrors(make({ timeZone: 'Mars/Town' }), old), ['spec.timeZone: Invalid value: "Mars/Town"'])
})

test('changes raise the generation; features that are off drop their fields; the status is free', () => {
  const old = create(make())
  assert.equal(update({ ...make({ suspend: true }), metadata: old.metadata ?? {} }, old).metadata?.generation, 2)
  assert.equal(writerOf<CronJob>(cronJob, contextWith({ gates: () => false })).create(make({ timeZone: 'UTC' })).spec?.timeZone, undefined)
  assert.equal(part('status').validateUpdate, undefined)
})

test('a zone in the schedule is warned of, in the words of the identity', () => {
  const zoned = create(make({ schedule: 'CRON_TZ=Europe/Paris 0 0 * * *' }))
  const warning =
    'CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
  assert.deepEqual(kind.warnings?.(zoned, zoned, contextWith({ identity: identityOf('kubernetes') })), [warning])
})

test('the row', () => {
  const object = { ...make({ suspend: true }), status: { active: [{ name: 'j' }], lastScheduleTime: timeOf(testNow - 30_000) } }
  assert.deepEqual(cells(object), ['a', '*/5 * * * *', 'True', 1, '30s', '90s', 'c', 'i', '<none>'])
  assert.deepEqual(cells(make()).slice(2, 5), ['False', 0, '<none>'])
})
