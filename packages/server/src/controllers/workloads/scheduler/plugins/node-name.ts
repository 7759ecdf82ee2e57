// NodeName: a pod that names its node. Such pods skip the scheduler; preemption may still judge them.

import { type Plugin, refuseFinally } from './plugin.js'

const refusal = refuseFinally("node(s) didn't match the requested node name")

export const nodeName: Plugin = {
  name: 'NodeName',
  prepare: ({ pod }) => {
    const wanted = pod.spec?.nodeName ?? ''
    return wanted === '' ? undefined : { filter: ({ name }) => (name === wanted ? undefined : refusal) }
  },
}
