// Description of Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet, Job and CronJob.

import type {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Pod,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '@cluster-apiserver/client/typed/types.js'
import {
  conditionsEntry,
  controllerEntry,
  createdEntry,
  type LabelSelector,
  labelEntries,
  selectorText,
  textOr,
  timeText,
} from './common-fields.js'
import { block, type Entry, none, pairsOf } from './description.js'
import { type Template, templateEntry } from './pod.js'
import type { DescribeContext } from './related-objects.js'

export async function describeDeployment(object: Deployment, context: DescribeContext): Promise<readonly Entry[]> {
  const { spec = {}, status = {} } = object
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, unavailableReplicas = 0 } = status
  const { type, rollingUpdate } = spec.strategy ?? {}
  const sets = await replicaSetsOf(object, context)
  const newest = sets?.find(({ spec: setSpec }) => sameTemplate(setSpec?.template, spec.template))
  const older = sets?.filter((set) => set !== newest)
  const replicaSetsText = (listed: readonly ReplicaSet[] | undefined): string =>
    listed === undefined || listed.length === 0
      ? none
      : listed
          .map(
            ({ metadata, status: setStatus, spec: setSpec }) =>
              `${metadata?.name} (${setStatus?.replicas ?? 0}/${setSpec?.replicas ?? 0} replicas created)`,
          )
          .join(', ')
  return [
    createdEntry(object),
    ...labelEntries(object),
    ['Selector', selectorText(spec.selector)],
    [
      'Replicas',
      `${spec.replicas ?? 1} desired | ${updatedReplicas} updated | ${replicas} total | ${availableReplicas} available | ${unavailableReplicas} unavailable`,
    ],
    ['StrategyType', textOr(type)],
    ['MinReadySeconds', String(spec.minReadySeconds ?? 0)],
    [
      'RollingUpdateStrategy',
      rollingUpdate === undefined
        ? undefined
        : `${textOr(rollingUpdate.maxUnavailable)} max unavailable, ${textOr(rollingUpdate.maxSurge)} max surge`,
    ],
    templateEntry(spec.template as Template | undefined),
    conditionsEntry(status.conditions, ['Type', 'Status', 'Reason']),
    ['OldReplicaSets', sets === undefined || sets.length === 0 ? undefined : replicaSetsText(older)],
    ['NewReplicaSet', sets === undefined || sets.length === 0 ? undefined : replicaSetsText(newest === undefined ? [] : [newest])],
  ]
}

async function replicaSetsOf({ metadata, spec }: Deployment, context: DescribeContext): Promise<readonly ReplicaSet[] | undefined> {
  const selector = selectorText(spec?.selector)
  const sets = await context.list<ReplicaSet>('replicasets.apps', metadata?.namespace, selector === none ? {} : { labelSelector: selector })
  return sets?.filter((set) => set.metadata?.ownerReferences?.some(({ uid }) => uid === metadata?.uid))
}

/** Ignores the label pod-template-hash. */
function sameTemplate(a: Template | undefined, b: Template | undefined): boolean {
  const normalized = (template: Template | undefined): string => {
    const { 'pod-template-hash': _, ...labels } = template?.metadata?.labels ?? {}
    return JSON.stringify({ ...template, metadata: { ...template?.metadata, labels: pairsOf(labels) } })
  }
  return normalized(a) === normalized(b)
}

export async function describeReplicaSet(object: ReplicaSet, context: DescribeContext): Promise<readonly Entry[]> {
  const { spec = {}, status = {} } = object
  return [
    ['Selector', selectorText(spec.selector)],
    ...labelEntries(object),
    controllerEntry(object),
    ['Replicas', `${status.replicas ?? 0} current / ${spec.replicas ?? 1} desired`],
    await podsEntry(object, spec.selector, context),
    templateEntry(spec.template as Template | undefined),
    conditionsEntry(status.conditions),
  ]
}

export async function describeReplicationController(object: ReplicationController, context: DescribeContext): Promise<readonly Entry[]> {
  const { spec = {}, status = {} } = object
  const selector = { matchLabels: spec.selector ?? {} }
  return [
    ['Selector', selectorText(selector)],
    ...labelEntries(object),
    ['Replicas', `${status.replicas ?? 0} current / ${spec.replicas ?? 1} desired`],
    await podsEntry(object, selector, context),
    templateEntry(spec.template as Template | undefined),
    conditionsEntry(status.conditions),
  ]
}

export async function describeStatefulSet(object: StatefulSet, context: DescribeContext): Promise<readonly Entry[]> {
  const { spec = {}, status = {} } = object
  return [
    createdEntry(object),
    ['Selector', selectorText(spec.selector)],
    ...labelEntries(object),
    ['Replicas', `${spec.replicas ?? 1} desired | ${status.replicas ?? 0} total`],
    ['Update Strategy', textOr(spec.updateStrategy?.type)],
    [
      '  Partition',
      spec.updateStrategy?.rollingUpdate?.partition === undefined ? undefined : String(spec.updateStrategy.rollingUpdate.partition),
    ],
    await podsEntry(object, spec.selector, context),
    templateEntry(spec.template as Template | undefined),
    ['Volume Claims', block((spec.volumeClaimTemplates ?? []).flatMap(claimEntries))],
  ]
}

export async function describeDaemonSet(object: DaemonSet, context: DescribeContext): Promise<readonly Entry[]> {
  const { spec = {}, status = {} } = object
  return [
    ['Selector', selectorText(spec.selector)],
    ['Node-Selector', pairsOf((spec.template as Template | undefined)?.spec?.nodeSelector).join(',')],
    ...labelEntries(object),
    ['Desired Number of Nodes Scheduled', { inline: String(status.desiredNumberScheduled ?? 0) }],
    ['Current Number of Nodes Scheduled', { inline: String(status.currentNumberScheduled ?? 0) }],
    ['Number of Nodes Scheduled with Up-to-date Pods', { inline: String(status.updatedNumberScheduled ?? 0) }],
    ['Number of Nodes Scheduled with Available Pods', { inline: String(status.numberAvailable ?? 0) }],
    ['Number of Nodes Misscheduled', { inline: String(status.numberMisscheduled ?? 0) }],
    await podsEntry(object, spec.selector, context),
    templateEntry(spec.template as Template | undefined),
  ]
}

export function describeJob(object: Job): readonly Entry[] {
  const { spec = {}, status = {} } = object
  return [
    ['Selector', selectorText(spec.selector)],
    ...labelEntries(object),
    controllerEntry(object),
    ['Parallelism', textOr(spec.parallelism)],
    ['Completions', textOr(spec.completions)],
    ['Completion Mode', textOr(spec.completionMode)],
    ['Suspend', spec.suspend === true ? 'true' : undefined],
    ['Active Deadline Seconds', spec.activeDeadlineSeconds === undefined ? undefined : `${spec.activeDeadlineSeconds}s`],
    ['Start Time', status.startTime === undefined ? undefined : timeText(status.startTime)],
    ['Completed At', status.completionTime === undefined ? undefined : timeText(status.completionTime)],
    [
      'Pods Statuses',
      `${status.active ?? 0} Active${status.ready === undefined ? '' : ` (${status.ready} Ready)`} / ${status.succeeded ?? 0} Succeeded / ${status.failed ?? 0} Failed`,
    ],
    ['Completed Indexes', spec.completionMode === 'Indexed' ? textOr(status.completedIndexes) : undefined],
    templateEntry(spec.template as Template | undefined),
    conditionsEntry(status.conditions),
  ]
}

export function describeCronJob(object: CronJob): readonly Entry[] {
  const { spec = {}, status = {} } = object
  const job = spec.jobTemplate?.spec
  const unset = '<unset>'
  return [
    ...labelEntries(object),
    ['Schedule', textOr(spec.schedule)],
    ['Time Zone', spec.timeZone],
    ['Concurrency Policy', textOr(spec.concurrencyPolicy)],
    ['Suspend', spec.suspend === true ? 'True' : 'False'],
    ['Successful Job History Limit', textOr(spec.successfulJobsHistoryLimit, unset)],
    ['Failed Job History Limit', textOr(spec.failedJobsHistoryLimit, unset)],
    ['Starting Deadline Seconds', spec.startingDeadlineSeconds === undefined ? unset : `${spec.startingDeadlineSeconds}s`],
    ['Selector', job?.selector === undefined ? unset : selectorText(job.selector)],
    ['Parallelism', textOr(job?.parallelism, unset)],
    ['Completions', textOr(job?.completions, unset)],
    ['Active Deadline Seconds', job?.activeDeadlineSeconds === undefined ? undefined : `${job.activeDeadlineSeconds}s`],
    templateEntry(job?.template as Template | undefined),
    ['Last Schedule Time', timeText(status.lastScheduleTime)],
    ['Last Successful Time', status.lastSuccessfulTime === undefined ? undefined : timeText(status.lastSuccessfulTime)],
    ['Active Jobs', textOr((status.active ?? []).map(({ name }) => name ?? '').join(', '))],
  ]
}

type ClaimTemplate = NonNullable<NonNullable<StatefulSet['spec']>['volumeClaimTemplates']>[number]

const claimEntries = ({ metadata = {}, spec = {} }: ClaimTemplate): readonly Entry[] => [
  ['Name', metadata.name ?? ''],
  ['StorageClass', spec.storageClassName ?? ''],
  ['Labels', pairsOf(metadata.labels)],
  ['Annotations', pairsOf(metadata.annotations, '=')],
  ['Capacity', textOr(spec.resources?.requests?.['storage'], '<default>')],
  ['Access Modes', `[${(spec.accessModes ?? []).join(' ')}]`],
]

interface Owner {
  readonly metadata?: { readonly namespace?: string; readonly uid?: string }
}

async function podsEntry({ metadata }: Owner, selector: LabelSelector | undefined, context: DescribeContext): Promise<Entry> {
  const labelSelector = selectorText(selector)
  if (labelSelector === none) return ['Pods Status', undefined]
  const pods = await context.list<Pod>('pods', metadata?.namespace, { labelSelector })
  const ownedPods = pods?.filter((pod) => pod.metadata?.ownerReferences?.some(({ uid }) => uid === metadata?.uid))
  if (ownedPods === undefined) return ['Pods Status', undefined]
  const count = (phase: string): number => ownedPods.filter(({ status }) => status?.phase === phase).length
  return [
    'Pods Status',
    `${count('Running')} Running / ${count('Pending')} Waiting / ${count('Succeeded')} Succeeded / ${count('Failed')} Failed`,
  ]
}
