// Flow control as the settings and the stored objects want it.

import type { Resource } from '../api/catalog.js'
import type { CatalogSource } from '../api/catalog-source.js'
import type { Exchange } from '../http/exchange.js'
import { FlowConfigs } from '../http/flow/flow-config.js'
import { FlowControl } from '../http/flow/flow-control.js'
import type { LoopLag } from '../http/loop-lag.js'
import type { Pressure } from '../http/pressure.js'
import type { Engine } from '../verbs/engine.js'
import { FlowObjectSource, followFlowObjects } from './flow-objects.js'
import type { Opening } from './opening.js'

export interface OpenFlowControl {
  readonly control: FlowControl
  readonly configs: FlowConfigs
}

interface FlowParts {
  readonly engine: Engine
  readonly catalogs: CatalogSource
  readonly pressure: Pressure
  readonly lag: LoopLag
}

export function openFlowControl({ settings, closing }: Opening, { engine, catalogs, pressure, lag }: FlowParts): OpenFlowControl {
  const { readingInFlight, mutatingInFlight } = settings.limits
  const total = readingInFlight + mutatingInFlight || Number.POSITIVE_INFINITY
  const source = new FlowObjectSource(engine.store, catalogs.current)
  const configs = new FlowConfigs(settings.identity, total)
  const control = new FlowControl({
    pressure,
    lag,
    config: configs.make(source.read()),
    countOf: objectCounts(engine, catalogs),
    // As the reference does.
    maxWaitMs: settings.timeouts.requestMs / 4,
  })
  closing.add(followFlowObjects(source, configs, control))
  closing.add(() => control.close())
  return { control, configs }
}

/** For how long a count is good. */
const countMs = 5_000

function objectCounts({ store }: Engine, catalogs: CatalogSource): (exchange: Exchange) => number {
  const counts = new WeakMap<Resource, { readonly atMs: number; readonly count: number }>()
  return ({ info, begunMs }) => {
    const resource = catalogs.current.find(info.group, info.version, info.resource)
    if (resource === undefined || resource.definition.computed !== undefined || resource.definition.review !== undefined) return 0
    const known = counts.get(resource)
    if (known !== undefined && begunMs - known.atMs < countMs) return known.count
    const count = store.count(resource, '')
    counts.set(resource, { atMs: begunMs, count })
    return count
  }
}
