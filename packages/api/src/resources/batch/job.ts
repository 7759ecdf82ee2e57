// Job: defaults, generated selector and labels, tracking annotation, printer columns.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { quote } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { withMetadata } from '../../api/object.js'
import { dnsSubdomainProblems } from '../../api/validation/checks.js'
import { templateWithoutGatedFields } from '../core/pod-spec/feature-gated-fields.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { mapItems, withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { describeSelector, specTemplateWarnings, workloadColumns } from '../core/workload/workload.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withFirstGeneration, withKeptStatus } from '../status-subresource.js'
import { nameLabel, ownerLabel, validateJob, validateJobChange, validateJobStatus } from './job-validation.js'
import { type Job, type JobSpec, job as schema, jobSpec as specSchema } from './v1.schema.js'

const specDefaults = { parallelism: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false }

/** Without completions and parallelism, a Job runs one pod. */
function withSpecDefaults(spec: JobSpec, { identity }: RuleContext): JobSpec {
  const withCompletions = spec.completions === undefined && spec.parallelism === undefined ? { ...spec, completions: 1 } : spec
  const filled = withMissing<JobSpec>(withCompletions, specDefaults)
  const template = withTemplateDefaults(filled.template, identity)
  return withConditionStatus(template === filled.template ? filled : { ...filled, template })
}

const withConditionStatus = (spec: JobSpec): JobSpec =>
  withChanged(spec, 'podFailurePolicy', (policy) =>
    withChanged(policy, 'rules', (rules) =>
      mapItems(rules, (rule) =>
        withChanged(rule, 'onPodConditions', (patterns) => mapItems(patterns, (pattern) => withMissing(pattern, { status: 'True' }))),
      ),
    ),
  )

function defaults(job: Job, context: RuleContext): Job {
  const spec = withSpecDefaults(job.spec ?? {}, context)
  return withTemplateLabels(spec === job.spec ? job : { ...job, spec })
}

function withTemplateLabels(job: Job): Job {
  const labels = job.spec?.template?.metadata?.labels
  return labels === undefined || job.metadata?.labels !== undefined ? job : withMetadata(job, { labels })
}

const trackingKey = (context: RuleContext): string => context.identity.label('job-tracking', 'batch')

function withoutGated(job: Job, old: Job | undefined, { gates }: RuleContext): Job {
  const { podFailurePolicy, ...rest } = job.spec ?? {}
  const keepsPolicy = podFailurePolicy !== undefined && (gates('JobPodFailurePolicy') || old?.spec?.podFailurePolicy !== undefined)
  const template = templateWithoutGatedFields(rest.template ?? {}, old?.spec?.template, gates)
  return { ...job, spec: { ...rest, template, ...(keepsPolicy ? { podFailurePolicy } : {}) } }
}

/** Selects by the uid of the Job. Labels of the user are kept; validation rejects contradictions. */
function withGeneratedSelector(job: Job): Job {
  const { metadata = {}, spec = {} } = job
  if (spec.manualSelector === true) return job
  const owner = { [ownerLabel]: metadata.uid ?? '' }
  const labels = { ...owner, [nameLabel]: metadata.name ?? '', ...spec.template?.metadata?.labels }
  return {
    ...job,
    spec: {
      ...spec,
      selector: { ...spec.selector, matchLabels: { ...owner, ...spec.selector?.matchLabels } },
      template: { ...spec.template, metadata: { ...spec.template?.metadata, labels } },
    },
  }
}

/** Adds the job-tracking annotation, which cannot be removed. */
const withTracking = (job: Job, context: RuleContext): Job =>
  withMetadata(job, { annotations: { ...job.metadata?.annotations, [trackingKey(context)]: '' } })

function prepareUpdate(next: Job, old: Job, context: RuleContext): Job {
  const prepared = withKeptStatus(withoutGated(next, old, context), old, specSchema)
  const key = trackingKey(context)
  const lostTracking = old.metadata?.annotations?.[key] !== undefined && next.metadata?.annotations?.[key] === undefined
  return lostTracking ? withTracking(prepared, context) : prepared
}

function prepareCreate(job: Job, context: RuleContext): Job {
  const first = withFirstGeneration(withoutGated(job, undefined, context))
  const tracked = withTracking(first, context)
  const withSelector = withGeneratedSelector(tracked)
  // Identity, not equality: defaults share the labels of the template with a Job that has none of its own.
  const hasOwnLabels = first.metadata?.labels !== first.spec?.template?.metadata?.labels
  return hasOwnLabels ? withSelector : withTemplateLabels(withMetadata(withSelector, { labels: undefined }))
}

function describeCompletions({ spec, status }: Job): string {
  const { completions, parallelism = 0 } = spec ?? {}
  const done = status?.succeeded ?? 0
  if (completions !== undefined) return `${done}/${completions}`
  return parallelism > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`
}

function describeDuration({ status }: Job, now: number): string {
  if (status?.startTime === undefined) return ''
  const end = status.completionTime === undefined ? now : Date.parse(status.completionTime)
  return ageOf(status.startTime, end)
}

export const job = defineResource<Job>({
  group: 'batch',
  kind: 'Job',
  resource: 'jobs',
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate,
  prepareUpdate,
  validate: validateJob,
  validateUpdate: validateJobChange,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validateUpdate'] },
  warnings: specTemplateWarnings,
  orphansByDefault: {
    warning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
  resetFields: ['status'],
  selectableFields: { 'status.successful': ({ status }) => `${status?.succeeded ?? 0}` },
  fieldRefusal: (field) => `field label ${quote(field)} not supported for batchv1.Job`,
  subresources: [statusSubresource<Job>({ validateUpdate: validateJobStatus })],
  table: tableOf<Job>(
    nameColumn,
    textColumn('Completions', 'Succeeded pods out of the required number.', (object) => describeCompletions(object)),
    textColumn('Duration', 'Run time of the job.', (object, { now }) => describeDuration(object, now)),
    ageColumn,
    ...workloadColumns<Job>(
      ({ spec }) => spec?.template,
      (object) => describeSelector(object.spec?.selector),
    ),
  ),
})
