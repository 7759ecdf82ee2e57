// Starts the enabled workload controllers, which share an index of objects by controller; loaded only if one is enabled.

import type { ControllerParts } from '../framework/controller.js'
import type { Controller } from '../leader-election/leader-election.js'
import type { MetricExtensions } from './horizontalpodautoscaling/metrics-source.js'
import { ControlledObjects } from './kit/controlled-objects.js'
import type { WorkloadFlags } from './kit/workload-parts.js'
import { parseRules } from './simulated-nodes/behaviour.js'
import { parseTemplates, plainTemplate } from './simulated-nodes/node-template.js'
import { simulatedUsage } from './simulated-nodes/pod-usage.js'
import { type Simulation, simulatedNodes } from './simulated-nodes/simulated-nodes.js'
import { type WorkloadName, workloadTable } from './workload-table.js'

export { simulatedBackends } from './simulated-nodes/kubelet/simulated-kubelet.js'
export { newNodes } from './simulated-nodes/node-template.js'
export { simulatedUsage } from './simulated-nodes/pod-usage.js'

interface WorkloadOptions {
  readonly flags?: WorkloadFlags | undefined
  readonly simulation?: Simulation | undefined
  readonly extensions?: MetricExtensions | undefined
}

/** The controllers as one, because the index must be closed after all of them. `partsOf` returns the parts for a controller. */
export function startWorkloads(
  partsOf: (name: string) => ControllerParts,
  names: readonly WorkloadName[],
  { flags, simulation, extensions }: WorkloadOptions = {},
): Controller {
  const controlled = new ControlledObjects(partsOf('workloads'))
  const podMetrics = simulation && simulatedUsage(partsOf('simulated-nodes'), simulation.rules)
  const more = {
    ...(flags === undefined ? {} : { flags }),
    ...(extensions === undefined ? {} : { extensions }),
    ...(podMetrics === undefined ? {} : { podMetrics }),
  }
  const running = [
    ...names.map((name) => workloadTable[name]({ ...partsOf(name), controlled, ...more })),
    ...(simulation === undefined ? [] : [simulatedNodes({ ...partsOf('simulated-nodes'), controlled }, simulation)]),
  ]
  return {
    get isIdle() {
      return running.every(({ isIdle = true }) => isIdle)
    },
    get busyKeys() {
      return running.flatMap(({ busyKeys = [] }) => busyKeys)
    },
    expedite: (withinMs) => {
      for (const controller of running) controller.expedite?.(withinMs)
    },
    close: async () => {
      await Promise.all(running.map((controller) => controller.close()))
      controlled.close()
    },
  }
}

interface ConfigValue {
  readonly origin: string
  readonly value: unknown
}

interface SimulationConfig {
  readonly nodes: number
  readonly templates?: ConfigValue
  readonly rules?: ConfigValue
}

/** Throws an Error for the first problem of the templates and rules. */
export function readSimulation({ nodes, templates, rules }: SimulationConfig): Simulation {
  const read = <T>(config: ConfigValue | undefined, parse: (value: unknown) => readonly T[]): readonly T[] => {
    try {
      return config === undefined ? [] : parse(config.value)
    } catch (thrown) {
      throw new Error(`${config?.origin}: ${(thrown as Error).message}`)
    }
  }
  return { templates: [plainTemplate(nodes), ...read(templates, parseTemplates)], rules: read(rules, parseRules) }
}
