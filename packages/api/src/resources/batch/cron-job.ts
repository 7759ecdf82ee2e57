// CronJob: defaults, validation of schedule, time zone and job template, printer columns.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import type { Identity } from '../../api/identity.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkChoice, checkNotNegative, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { templateWithoutGatedFields } from '../core/pod-spec/feature-gated-fields.js'
import { labelDomain } from '../core/pod-spec/pod-names.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { templateWarnings } from '../core/pod-spec/pod-warnings.js'
import { withMissing } from '../core/pod-spec/visit-containers.js'
import { describeSelector, workloadColumns } from '../core/workload/workload.js'
import { ageColumn, countColumn, flagColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withFirstGeneration, withKeptStatus } from '../status-subresource.js'
import { isTimeZone, scheduleProblem } from './cron-schedule.js'
import { validateJobSpec } from './job-validation.js'
import { type CronJob, type CronJobSpec, type JobTemplateSpec, cronJob as schema, cronJobSpec as specSchema } from './v1.schema.js'

const specDefaults = { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }

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

/** Maximum length of the name: the controller appends 11 characters of time. */
const maxNameBytes = 52

function validate(job: CronJob, context: RuleContext): readonly FieldError[] {
  const name = job.metadata?.name ?? ''
  return joined(
    validateSpec(job.spec ?? {}, undefined, context),
    byteLength(name) > maxNameBytes ? [invalid('metadata.name', name, `must be no more than ${maxNameBytes} characters`)] : noErrors,
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

function validateSchedule({ schedule = '', timeZone }: CronJobSpec, field: string): readonly FieldError[] {
  if (schedule === '') return [required(field)]
  const problem = scheduleProblem(schedule)
  return joined(
    problem === undefined ? noErrors : [invalid(field, schedule, problem)],
    mentionsTimeZone(schedule) && timeZone !== undefined
      ? [invalid(field, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')]
      : noErrors,
  )
}

const mentionsTimeZone = (schedule: string): boolean => schedule.includes('TZ')

/** Rejects `Local`. */
function validateTimeZone(zone: string, field: string): readonly FieldError[] {
  if (zone === '') return [invalid(field, zone, 'timeZone must be nil or non-empty string')]
  const isLocal = zone.toLowerCase() === 'local'
  return joined(
    isLocal ? [invalid(field, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')] : noErrors,
    isTimeZone(zone) ? noErrors : [invalid(field, zone, zoneProblem(zone))],
  )
}

/** Message of Go for a time zone that does not exist: names that leave the zone directory are invalid, all others unknown. */
const zoneProblem = (zone: string): string =>
  zone.includes('..') || zone.startsWith('/') || zone.startsWith('\\') ? 'time: invalid location name' : `unknown time zone ${zone}`

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
  const zoneWarning = `CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see ${guide} for more details`
  return [
    ...templateWarnings({ next, old, template, path: 'spec.jobTemplate.spec.template', identity }),
    ...(mentionsTimeZone(next.spec?.schedule ?? '') ? [zoneWarning] : []),
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
  subresources: [statusSubresource<CronJob>()],
  table: tableOf<CronJob>(
    nameColumn,
    textColumn('Schedule', 'Cron schedule of the jobs.', ({ spec }) => spec?.schedule ?? ''),
    flagColumn('Suspend', 'Whether the schedule is suspended.', ({ spec }) => yesOrNo(spec?.suspend)),
    countColumn('Active', 'Number of running jobs.', ({ status }) => status?.active?.length ?? 0),
    textColumn('Last Schedule', 'Time since the last scheduled job.', ({ status }, { now }) =>
      status?.lastScheduleTime === undefined ? '<none>' : ageOf(status.lastScheduleTime, now),
    ),
    ageColumn,
    ...workloadColumns<CronJob>(
      ({ spec }) => spec?.jobTemplate?.spec?.template,
      ({ spec }) => describeSelector(spec?.jobTemplate?.spec?.selector),
    ),
  ),
})
