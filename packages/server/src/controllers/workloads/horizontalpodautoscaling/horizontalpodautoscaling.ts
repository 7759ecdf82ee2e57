// Horizontal pod autoscaler: sets the replicas of a scale subresource from metrics, every 15 seconds.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type CompiledLabelSelector, compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { Scale } from '@cluster-apiserver/api/resources/autoscaling/v1.schema.js'
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
} from '@cluster-apiserver/api/resources/autoscaling/v2.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController, type Run, type SourceEvent } from '../../framework/controller.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { addressOfKey, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { type MetricSources, type Proposals, proposeReplicas } from './metric-proposals.js'
import { metricSources } from './remote-metrics.js'
import { limit, newHistory, noteScaling, type ScaleHistory } from './scale-limits.js'
import { readScale, type ScaleTarget } from './scale-target.js'

/** Also the delay after a change, so that bursts of changes cause one run. */
const periodMs = 15_000

interface Resources {
  readonly autoscalers: Resource
  readonly pods: Resource
}

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly resources: Resources
  readonly sources: MetricSources
  readonly histories: Map<string, ScaleHistory>
  /** Selectors of autoscalers whose metrics were evaluated, by namespace and name. */
  readonly selectors: Map<string, CompiledLabelSelector>
  readonly run: Run
}

function resourcesIn(catalog: Catalog): Resources | undefined {
  const autoscalers = catalog.find('autoscaling', 'v2', 'horizontalpodautoscalers')
  const pods = catalog.find('', 'v1', 'pods')
  return autoscalers === undefined || pods === undefined ? undefined : { autoscalers, pods }
}

export const horizontalPodAutoscalers = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'horizontal-pod-autoscaler')
  const sources = metricSources(parts)
  const state = { histories: new Map<string, ScaleHistory>(), selectors: new Map<string, CompiledLabelSelector>() }
  return new KeyedController(parts, {
    name: 'horizontalpodautoscaler',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const found = resourcesIn(catalog)
      if (found === undefined) return []
      const { autoscalers } = found
      const keyOf = (stored: { readonly key: string }, type: SourceEvent) => {
        const { namespace, name } = partsOf(autoscalers, stored.key)
        const key = `${namespace}/${name}`
        if (type === 'DELETED') state.selectors.delete(key)
        return { key, afterMs: periodMs }
      }
      return [{ resource: autoscalers, namespace: '', keyOf }]
    },
    work: async (key, run) => {
      const resources = resourcesIn(parts.catalogs.current)
      return resources === undefined ? undefined : reconcile({ parts, writer, resources, sources, ...state, run }, key)
    },
  })
}

type Status = HorizontalPodAutoscalerStatus

async function reconcile(context: Context, key: string): Promise<Outcome> {
  const { parts, resources, histories, selectors } = context
  const autoscaler = readObject<HorizontalPodAutoscaler>(parts, addressOfKey(resources.autoscalers, key))
  if (autoscaler === undefined) {
    histories.delete(key)
    selectors.delete(key)
    return undefined
  }
  const round = new Round(context, autoscaler)
  try {
    await round.scale(key)
  } catch (thrown) {
    // Conditions and events report it; other errors are retried in the next round, too.
    if (!(thrown instanceof RoundEnded)) throw thrown
  }
  await round.writeStatus()
  return { afterMs: periodMs }
}

/** Ends a round; its status is written. */
class RoundEnded extends Error {
  override readonly name = 'RoundEnded'
}

/** One evaluation of an autoscaler. */
class Round {
  readonly #context: Context
  readonly #autoscaler: HorizontalPodAutoscaler
  readonly #nowMs: number
  #status: Status

  constructor(context: Context, autoscaler: HorizontalPodAutoscaler) {
    this.#context = context
    this.#autoscaler = autoscaler
    this.#nowMs = context.parts.engine.clock.now()
    this.#status = autoscaler.status ?? {}
  }

  async scale(key: string): Promise<void> {
    const { parts, histories } = this.#context
    const target = await this.#target()
    const { spec, metadata } = this.#autoscaler
    const { minReplicas: min = 1, maxReplicas: max = 0 } = spec ?? {}
    const { scale } = target
    const current = scale.spec?.replicas ?? 0
    this.#setCondition('AbleToScale', 'True', ['SucceededGetScale', "the HPA controller was able to get the target's current scale"])
    const history = getOrInsert(histories, key, () => newHistory(current, this.#nowMs))
    let desired = current
    let reason = ''
    let statuses: readonly MetricStatus[] = []
    if (current === 0 && min !== 0)
      this.#setCondition('ScalingActive', 'False', ['ScalingDisabled', 'scaling is disabled since the replica count of the target is zero'])
    else if (current > max) [desired, reason] = [max, 'Current number of replicas above Spec.MaxReplicas']
    else if (current < min) [desired, reason] = [min, 'Current number of replicas below Spec.MinReplicas']
    else {
      const proposals = await this.#propose(target, current)
      statuses = proposals.statuses
      if (proposals.replicas > current) reason = `${proposals.metric} above target`
      if (proposals.replicas < current) reason = 'All metrics below target'
      const limited = limit(this.#autoscaler, history, { current, desired: proposals.replicas, min, nowMs: this.#nowMs })
      desired = limited.replicas
      this.#setCondition('AbleToScale', 'True', [limited.able.reason, limited.able.message])
      this.#setCondition('ScalingLimited', limited.limited.status, [limited.limited.reason, limited.limited.message])
    }
    const isRescaled = desired !== current
    if (isRescaled) {
      await this.#rescale(target, { desired, current, reason })
      noteScaling(this.#autoscaler, history, { from: current, to: desired, nowMs: this.#nowMs })
    }
    this.#setStatus(current, isRescaled ? desired : current, statuses)
    if (isRescaled) this.#status = { ...this.#status, lastScaleTime: timeOf(this.#nowMs) }
    parts.logger.debug({ controller: 'horizontalpodautoscaler', key: metadata?.name, current, desired }, 'autoscaler evaluated')
  }

  async #target(): Promise<ScaleTarget> {
    const { parts } = this.#context
    const { spec, metadata } = this.#autoscaler
    try {
      return await readScale(parts, metadata?.namespace ?? '', spec?.scaleTargetRef ?? {})
    } catch (thrown) {
      const message = errorMessage(thrown)
      await this.#event('Warning', 'FailedGetScale', message)
      const text = `the HPA controller was unable to get the target's current scale: ${message}`
      this.#setCondition('AbleToScale', 'False', ['FailedGetScale', text])
      throw new RoundEnded(message)
    }
  }

  async #propose({ scale }: ScaleTarget, current: number): Promise<Proposals> {
    const { sources } = this.#context
    const end = async (message: string): Promise<never> => {
      this.#setStatus(current, this.#status.desiredReplicas ?? 0, this.#status.currentMetrics ?? [])
      await this.#event('Warning', 'FailedComputeMetricsReplicas', message)
      throw new RoundEnded(message)
    }
    const selector = await this.#selectorOf(scale.status?.selector ?? '', end)
    const pods = await this.#podsOf(selector)
    await this.#checkOthers(selector, pods, end)
    const { namespace = '' } = this.#autoscaler.metadata ?? {}
    const counts = { specReplicas: current, statusReplicas: scale.status?.replicas ?? 0 }
    const proposals = await proposeReplicas(this.#autoscaler, sources, { namespace, selector, pods, nowMs: this.#nowMs, ...counts })
    const { errors, replicas, metric, statuses } = proposals
    const [first] = errors
    for (const { reason, message } of errors) await this.#event('Warning', reason, message)
    const total = this.#autoscaler.spec?.metrics?.length ?? 0
    if (first !== undefined && (errors.length >= total || replicas < current)) {
      const text = `the HPA was unable to compute the replica count: ${first.message}`
      this.#setCondition('ScalingActive', 'False', [first.reason, text])
      await end(`invalid metrics (${errors.length} invalid out of ${total}), first error is: ${first.prefix}${first.message}`)
    }
    const text = `the HPA was able to successfully calculate a replica count from ${metric}`
    this.#setCondition('ScalingActive', 'True', ['ValidMetricFound', text])
    return { errors, replicas, metric, statuses }
  }

  async #selectorOf(text: string, end: (message: string) => Promise<never>): Promise<CompiledLabelSelector> {
    if (text === '') {
      await this.#event('Warning', 'SelectorRequired', 'selector is required')
      this.#setCondition('ScalingActive', 'False', ['InvalidSelector', "the HPA target's scale is missing a selector"])
      return end('selector is required')
    }
    try {
      return compileLabelSelector(text)
    } catch (thrown) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${errorMessage(thrown)}`
      await this.#event('Warning', 'InvalidSelector', message)
      this.#setCondition('ScalingActive', 'False', ['InvalidSelector', message])
      return end(message)
    }
  }

  async #podsOf(labels: CompiledLabelSelector): Promise<readonly Pod[]> {
    const { parts, resources, run } = this.#context
    const namespace = this.#autoscaler.metadata?.namespace ?? ''
    const found: Pod[] = []
    const range = { resource: resources.pods, namespace, selection: { labels, fields: undefined } }
    for (const stored of parts.engine.store.readAll({ ...range, limit: 0 }).objects()) {
      found.push(stored.decode(resources.pods) as Pod)
      await run.budget.yieldIfSpent()
    }
    return found
  }

  /** Two autoscalers of the same pods would work against each other. The first of them notices it in its second round. */
  async #checkOthers(selector: CompiledLabelSelector, pods: readonly Pod[], end: (message: string) => Promise<never>): Promise<void> {
    const { parts, resources, selectors, run } = this.#context
    const { namespace = '', name = '', uid } = this.#autoscaler.metadata ?? {}
    const stored = readObject<HorizontalPodAutoscaler>(parts, { resource: resources.autoscalers, namespace, name })
    // It may have been deleted since this round began.
    if (stored?.metadata?.uid === uid) selectors.set(`${namespace}/${name}`, selector)
    const keys: string[] = []
    for (const [key, other] of selectors) {
      if (key.startsWith(`${namespace}/`) && pods.some(({ metadata }) => other.matches(metadata?.labels))) keys.push(key)
      await run.budget.yieldIfSpent()
    }
    if (keys.length < 2) return
    const message = `pods by selector ${selector.text} are controlled by multiple HPAs: [${sortTexts(keys).join(' ')}]`
    await this.#event('Warning', 'AmbiguousSelector', message)
    this.#setCondition('ScalingActive', 'False', ['AmbiguousSelector', message])
    await end(message)
  }

  async #rescale({ resource, scale }: ScaleTarget, { desired, current, reason }: { desired: number; current: number; reason: string }) {
    const { writer } = this.#context
    try {
      await writer.update<Scale>(resource, { ...scale, spec: { replicas: desired } }, 'scale')
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      await this.#event('Warning', 'FailedRescale', `New size: ${desired}; reason: ${reason}; error: ${thrown.message}`)
      const text = `the HPA controller was unable to update the target scale: ${thrown.message}`
      this.#setCondition('AbleToScale', 'False', ['FailedUpdateScale', text])
      this.#setStatus(current, this.#status.desiredReplicas ?? 0, this.#status.currentMetrics ?? [])
      throw new RoundEnded(thrown.message)
    }
    const text = `the HPA controller was able to update the target scale to ${desired}`
    this.#setCondition('AbleToScale', 'True', ['SucceededRescale', text])
    await this.#event('Normal', 'SuccessfulRescale', `New size: ${desired}; reason: ${reason}`)
  }

  async writeStatus(): Promise<void> {
    const { writer, resources } = this.#context
    const status = normalized(this.#status)
    if (sameValue(normalized(this.#autoscaler.status ?? {}), status)) return
    await writer.update<HorizontalPodAutoscaler>(resources.autoscalers, { ...this.#autoscaler, status }, 'status')
  }

  #setStatus(currentReplicas: number, desiredReplicas: number, currentMetrics: readonly MetricStatus[]): void {
    const { observedGeneration: _, ...status } = this.#status
    this.#status = { ...status, currentReplicas, desiredReplicas, currentMetrics }
  }

  /** Conditions keep their place, and their time while the status is the same. */
  #setCondition(type: string, status: 'True' | 'False', [reason, message]: readonly [reason: string, message: string]): void {
    const { conditions = [] } = this.#status
    const before = conditions.find((condition) => condition.type === type)
    const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? '') : timeOf(this.#nowMs)
    const next = { type, status, reason, message, lastTransitionTime }
    this.#status = {
      ...this.#status,
      conditions: before === undefined ? [...conditions, next] : conditions.map((condition) => (condition === before ? next : condition)),
    }
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): Promise<void> {
    return this.#context.writer.event(this.#context.resources.autoscalers, this.#autoscaler, { type, reason, message })
  }
}

/** Without zeros and empty lists, which stored objects omit. */
function normalized({ currentReplicas = 0, desiredReplicas = 0, currentMetrics = [], ...status }: Status): Status {
  return {
    ...status,
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    ...(desiredReplicas === 0 ? {} : { desiredReplicas }),
    ...(currentMetrics.length === 0 ? {} : { currentMetrics }),
  }
}
