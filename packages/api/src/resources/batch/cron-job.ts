// Cron jobs: jobs that are made at set times.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import type { Identity } from '../../api/identity.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkChoice, joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { durationNanoseconds } from '../../schema/scalars.js'
import { withFirstGeneration, withKeptSpec, withKeptStatus } from '../core/generation.js'
import { describeSelector } from '../core/label-text.js'
import { templateWithoutGatedFields } from '../core/pod-spec/gated-fields.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import { labelDomain } from '../core/pod-spec/own-domains.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { templateWarnings } from '../core/pod-spec/warnings.js'
import { containerCells, containerColumns, countColumn, selectorColumn } from '../core/workload-columns.js'
import { scheduleProblem } from './cron-schedule.js'
import { validateJobSpec } from './job-spec.js'
import { isTimeZone } from './time-zone.js'
import { type CronJob, type CronJobSpec, type JobTemplateSpec, cronJob as schema, cronJobSpec as specSchema } from './v1.schema.js'

const specDefaults = { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }

/** Jobs get their own defaults when they are made; only the pods in them get theirs now. */
function defaults(job: CronJob, { identity }: RuleContext): CronJob {
  const spec = withMissing<CronJobSpec>(job.spec ?? {}, specDefaults)
  const { jobTemplate = {} } = spec
  const template = withTemplateDefaults(jobTemplate.spec?.template, identity)
  if (spec === job.spec && template === jobTemplate.spec?.template) return job
  return { ...job, spec: { ...spec, jobTemplate: { ...jobTemplate, spec: { ...jobTemplate.spec, template } } } }
}

function withoutGated(job: CronJob, old: CronJob | undefined, { gates }: RuleContext): CronJob {
  const { timeZone, jobTemplate = {}, ...rest } = job.spec ?? {}
  const keepsZone = timeZone !== undefined && (gates('CronJobTimeZone') || old?.spec?.timeZone !== undefined)
  const template = templateWithoutGatedFields(jobTemplate.spec?.template ?? {}, old?.spec?.jobTemplate?.spec?.template, gates)
  return {
    ...job,
    spec: { ...rest, jobTemplate: { ...jobTemplate, spec: { ...jobTemplate.spec, template } }, ...(keepsZone ? { timeZone } : {}) },
  }
}

/** The name of each job ends with the time for which it was made. */
const nameLimit = 52

function validate(job: CronJob, context: RuleContext): readonly FieldError[] {
  const name = job.metadata?.name ?? ''
  return joined(
    validateSpec(job.spec ?? {}, undefined, context),
    byteLength(name) > nameLimit ? [invalid('metadata.name', name, `must be no more than ${nameLimit} characters`)] : noErrors,
  )
}

const concurrencyPolicies = ['Allow', 'Forbid', 'Replace']

function validateSpec(spec: CronJobSpec, old: CronJobSpec | undefined, context: RuleContext): readonly FieldError[] {
  const { timeZone } = spec
  return joined(
    validateSchedule(spec, 'spec.schedule'),
    checkNotNegative(spec.startingDeadlineSeconds ?? 0, 'spec.startingDeadlineSeconds'),
    timeZone === undefined || timeZone === old?.timeZone ? noErrors : validateTimeZone(timeZone, 'spec.timeZone'),
    checkChoice(spec.concurrencyPolicy, 'spec.concurrencyPolicy', concurrencyPolicies),
    validateJobTemplate(spec.jobTemplate ?? {}, 'spec.jobTemplate.spec', context),
    checkNotNegative(spec.successfulJobsHistoryLimit ?? 0, 'spec.successfulJobsHistoryLimit'),
    checkNotNegative(spec.failedJobsHistoryLimit ?? 0, 'spec.failedJobsHistoryLimit'),
  )
}

const scheduleRules = { isTimeZone, isDuration: (text: string) => durationNanoseconds(text) !== undefined }

function validateSchedule({ schedule = '', timeZone }: CronJobSpec, field: string): readonly FieldError[] {
  if (schedule === '') return [required(field)]
  const problem = scheduleProblem(schedule, scheduleRules)
  return joined(
    problem === undefined ? noErrors : [invalid(field, schedule, problem)],
    namesZone(schedule) && timeZone !== undefined
      ? [invalid(field, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')]
      : noErrors,
  )
}

const namesZone = (schedule: string): boolean => schedule.includes('TZ')

/** The zone of the server is nobody's business. */
function validateTimeZone(zone: string, field: string): readonly FieldError[] {
  if (zone === '') return [invalid(field, zone, 'timeZone must be nil or non-empty string')]
  const isLocal = zone.toLowerCase() === 'local'
  return joined(
    isLocal ? [invalid(field, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')] : noErrors,
    isTimeZone(zone) ? noErrors : [invalid(field, zone, zoneProblem(zone))],
  )
}

/** A name that climbs out of the folder of zones is none; any other may be one that is not known. */
const zoneProblem = (zone: string): string =>
  zone.includes('..') || zone.startsWith('/') || zone.startsWith('\\') ? 'time: invalid location name' : `unknown time zone ${zone}`

/** Jobs of one cron job are many, so that each gets a selector of its own. */
function validateJobTemplate({ spec = {} }: JobTemplateSpec, field: string, context: RuleContext): readonly FieldError[] {
  const { selector, manualSelector } = spec
  return joined(
    validateJobSpec(spec, field, context),
    selector === undefined ? noErrors : [invalid(`${field}.selector`, selector, '`selector` will be auto-generated')],
    manualSelector === true ? [notSupported(`${field}.manualSelector`, manualSelector, ['nil', 'false'])] : noErrors,
  )
}

function warnings(next: CronJob, old: CronJob | undefined, identity: Identity): readonly string[] {
  const template = next.spec?.jobTemplate?.spec?.template
  const guide = `https://${labelDomain(identity)}/docs/concepts/workloads/controllers/cron-jobs/`
  const zoned = `CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see ${guide} for more details`
  return [
    ...templateWarnings({ next, old, template, path: 'spec.jobTemplate.spec.template', identity }),
    ...(namesZone(next.spec?.schedule ?? '') ? [zoned] : []),
  ]
}

const yesOrNo = (flag: boolean | undefined): string => (flag === undefined ? '<unset>' : flag ? 'True' : 'False')

export const cronJob = defineResource<CronJob>({
  group: 'batch',
  kind: 'CronJob',
  resource: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (object, context) => withFirstGeneration(withoutGated(object, undefined, context)),
  prepareUpdate: (next, old, context) => withKeptStatus(withoutGated(next, old, context), old, specSchema),
  validate,
  validateUpdate: (next, old, context) => validateSpec(next.spec ?? {}, old.spec, context),
  warnings: (next, old, { identity }) => warnings(next, old, identity),
  resetFields: ['status'],
  subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'], prepareUpdate: withKeptSpec, resetFields: ['spec'] }],
  table: {
    columns: [
      nameColumn,
      textColumn('Schedule', 'When jobs are made.'),
      { name: 'Suspend', type: 'boolean', description: 'Whether no further jobs are made.' },
      countColumn('Active', 'How many jobs are running.'),
      textColumn('Last Schedule', 'Time since a job was last made.'),
      ageColumn,
      ...containerColumns,
      selectorColumn,
    ],
    cells: ({ metadata, spec, status }, { now }) => [
      metadata?.name ?? '',
      spec?.schedule ?? '',
      yesOrNo(spec?.suspend),
      status?.active?.length ?? 0,
      status?.lastScheduleTime === undefined ? '<none>' : ageOf(status.lastScheduleTime, now),
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.jobTemplate?.spec?.template),
      describeSelector(spec?.jobTemplate?.spec?.selector),
    ],
  },
})
