// Pods on simulated nodes as their kubelet sees them: running containers, rules, logs and open ports.

import type { ContainerStatus, Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { ControllerParts } from '../../../framework/controller.js'
import { readObject } from '../../kit/workload-parts.js'
import { type Behaviour, behaviourOf, type Rule } from '../behaviour.js'
import { openLog } from '../container-log.js'
import type { PortScript } from '../container-scripts.js'
import { failureOf, isSimulated } from '../node-status.js'
import { podRulesOf } from '../pod-rules.js'

export interface PodName {
  readonly namespace: string
  readonly name: string
}

export class SimulatedPods {
  readonly parts: ControllerParts
  readonly #rules: readonly Rule[]

  constructor(parts: ControllerParts, rules: readonly Rule[]) {
    this.parts = parts
    this.#rules = rules
  }

  /** Undefined for pods that do not exist. */
  read({ namespace, name }: PodName): Pod | undefined {
    const resource = this.parts.catalogs.current.find('', 'v1', 'pods')
    return resource && readObject<Pod>(this.parts, { resource, namespace, name })
  }

  /** State of the kubelet of a node; undefined for nodes that are not simulated. A silent one cannot be reached. */
  kubeletOf(nodeName: string): 'silent' | 'running' | undefined {
    const resource = this.parts.catalogs.current.find('', 'v1', 'nodes')
    const node = resource && nodeName !== '' ? readObject<Node>(this.parts, { resource, namespace: '', name: nodeName }) : undefined
    const { identity } = this.parts.engine
    if (node === undefined || !isSimulated(node, identity)) return undefined
    return failureOf(node, identity) === 'Silent' ? 'silent' : 'running'
  }

  /** Behaviour of a container that runs. */
  runningContainer(pod: Pod, name: string): Behaviour | undefined {
    const { status = {} } = pod
    const isNamed = (container: ContainerStatus): boolean => container.name === name && container.state?.running !== undefined
    const init = status.initContainerStatuses?.find(isNamed)
    const found = init ?? status.containerStatuses?.find(isNamed) ?? status.ephemeralContainerStatuses?.find(isNamed)
    return found && this.#behaviour(pod, found, init !== undefined)
  }

  /** The port of a running container. */
  portOf(pod: Pod, port: number): PortScript | undefined {
    for (const container of pod.status?.containerStatuses ?? []) {
      if (container.state?.running === undefined) continue
      const found = this.#behaviour(pod, container, false).ports.find((script) => script.port === port)
      if (found !== undefined) return found
    }
    return undefined
  }

  log(pod: PodName, container: string, query: URLSearchParams, signal: AbortSignal): AsyncIterable<string> {
    return openLog(this.parts, { ...pod, container, query }, (current) => this.#rulesOf(current), signal)
  }

  #behaviour(pod: Pod, { name = '', image = '' }: ContainerStatus, isInit: boolean): Behaviour {
    return behaviourOf(pod, { name, image, isInit }, this.#rulesOf(pod))
  }

  #rulesOf(pod: Pod): readonly Rule[] {
    return podRulesOf(pod, this.#rules, this.parts.engine.identity).rules
  }
}
