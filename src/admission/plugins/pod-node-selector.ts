// Pods of a namespace run on the nodes that its annotation names, or else on those of the whole cluster.

import { forbidden } from '../../api/api-error.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { Labels, NodeSelectors } from '../config/node-selectors.js'
import { parseLabelPairs } from '../label-pairs.js'
import type { Lookup } from '../lookup.js'
import { newPod, type Pod, refuseBy, withSpec } from '../pods.js'

/** Empty where it is yet to be generated. */
const nameOf = ({ metadata }: Pod): string => metadata?.name ?? ''

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }

export function podNodeSelector(lookup: Lookup, { clusterDefault, allowed }: NodeSelectors): Plugin {
  function selectorOf(request: AdmissionRequest): Labels {
    const namespace = lookup.read(namespaces, { name: request.namespace })
    const text = namespace?.metadata?.annotations?.[request.identity.label('node-selector', 'scheduler.alpha')]
    return text === undefined ? clusterDefault : refuseBy(request, () => parseLabelPairs(text))
  }
  return {
    name: 'PodNodeSelector',
    collections: ['pods'],
    mutate: (request) => {
      const pod = newPod(request)
      if (pod === undefined) return undefined
      const selector = selectorOf(request)
      const own = pod.spec?.nodeSelector ?? {}
      if (Object.keys(selector).some((label) => own[label] !== undefined && own[label] !== selector[label]))
        throw forbidden(request.resource.subject, nameOf(pod), 'pod node label selector conflicts with its namespace node label selector')
      return Object.keys(selector).length === 0 ? undefined : withSpec(pod, { nodeSelector: { ...selector, ...own } })
    },
    validate: (request) => {
      const list = allowed.get(request.namespace) ?? {}
      const pod = newPod(request)
      if (pod === undefined || Object.keys(list).length === 0) return
      if (Object.entries(pod.spec?.nodeSelector ?? {}).every(([label, value]) => list[label] === value)) return
      throw forbidden(request.resource.subject, nameOf(pod), 'pod node label selector labels conflict with its namespace whitelist')
    },
  }
}
