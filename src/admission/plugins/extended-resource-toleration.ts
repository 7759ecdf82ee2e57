// Pods that ask for what others bring to nodes put up with the taints that keep everybody else off these nodes.

import { sameValue } from '../../api/validation/same-value.js'
import { compareText } from '../../base/text-order.js'
import { isExtended } from '../../resources/core/pod-spec/resource-names.js'
import type { Plugin } from '../admission.js'
import { changedPod, withSpec } from '../pods.js'

export const extendedResourceToleration: Plugin = {
  name: 'ExtendedResourceToleration',
  collections: ['pods'],
  mutate: (request) => {
    const pod = changedPod(request)
    if (pod === undefined) return undefined
    const names = new Set<string>()
    for (const { resources } of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])])
      for (const name of Object.keys(resources?.requests ?? {})) if (isExtended(name, request.identity)) names.add(name)
    const present = pod.spec?.tolerations ?? []
    const missing = [...names]
      .sort(compareText)
      .map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }))
      .filter((wanted) => !present.some((toleration) => sameValue(toleration, wanted)))
    return missing.length === 0 ? undefined : withSpec(pod, { tolerations: [...present, ...missing] })
  },
}
