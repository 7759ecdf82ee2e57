// Jobs: pods that run until a number of them has succeeded.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { quote } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { withMetadata } from '../../api/object.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameValue } from '../../api/validation/same-value.js'
import { withFirstGeneration, withKeptSpec, withKeptStatus } from '../core/generation.js'
import { describeSelector } from '../core/label-text.js'
import { mapItems } from '../core/pod-spec/all-containers.js'
import { templateWithoutGatedFields } from '../core/pod-spec/gated-fields.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { templateWarnings } from '../core/pod-spec/warnings.js'
import { containerCells, containerColumns, selectorColumn } from '../core/workload-columns.js'
import { nameLabel, ownerLabel, validateJob, validateJobChange, validateJobStatus } from './job-rules.js'
import { type Job, type JobSpec, job as schema, jobSpec as specSchema } from './v1.schema.js'

const specDefaults = { parallelism: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false }

/** A job that says neither how many nor how many at once is one pod. */
function withSpecDefaults(spec: JobSpec, { identity }: RuleContext): JobSpec {
  const counted = spec.completions === undefined && spec.parallelism === undefined ? { ...spec, completions: 1 } : spec
  const filled = withMissing<JobSpec>(counted, specDefaults)
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

/** A job without labels has those of its pods. */
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

/** By the job's own uid, pods and job find each other; what the user has set stays, and is refused where it contradicts. */
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

/** How a job's pods are counted is marked on the job, and the mark cannot be taken away. */
const withTracking = (job: Job, context: RuleContext): Job =>
  withMetadata(job, { annotations: { ...job.metadata?.annotations, [trackingKey(context)]: '' } })

function prepareUpdate(next: Job, old: Job, context: RuleContext): Job {
  const kept = withKeptStatus(withoutGated(next, old, context), old, specSchema)
  const key = trackingKey(context)
  const isUnmarked = old.metadata?.annotations?.[key] !== undefined && next.metadata?.annotations?.[key] === undefined
  return isUnmarked ? withTracking(kept, context) : kept
}

function prepareCreate(job: Job, context: RuleContext): Job {
  const first = withFirstGeneration(withoutGated(job, undefined, context))
  const tracked = withTracking(first, context)
  const selecting = withGeneratedSelector(tracked)
  const { labels } = first.metadata ?? {}
  const hasOwnLabels = labels !== undefined && !sameValue(labels, first.spec?.template?.metadata?.labels)
  return hasOwnLabels ? selecting : withTemplateLabels(withMetadata(selecting, { labels: undefined }))
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
  checks: { update: ['metadata', 'own', 'metadataChange', 'ownChange'] },
  warnings: (next, old, { identity }) => templateWarnings({ next, old, template: next.spec?.template, path: 'spec.template', identity }),
  orphansByDefault: {
    warning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
  resetFields: ['status'],
  selectableFields: { 'status.successful': ({ status }) => `${status?.succeeded ?? 0}` },
  refuseField: (field) => `field label ${quote(field)} not supported for batchv1.Job`,
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: withKeptSpec,
      validateUpdate: validateJobStatus,
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      textColumn('Completions', 'How many pods have succeeded, of how many.'),
      textColumn('Duration', 'How long the job has run or ran.'),
      ageColumn,
      ...containerColumns,
      selectorColumn,
    ],
    cells: (object, { now }) => [
      object.metadata?.name ?? '',
      describeCompletions(object),
      describeDuration(object, now),
      ageOf(object.metadata?.creationTimestamp, now),
      ...containerCells(object.spec?.template),
      describeSelector(object.spec?.selector),
    ],
  },
})
