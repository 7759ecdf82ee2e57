// Schemas of metrics/v1beta1, the resource metrics API of metrics-server.

import { kindsOf } from '../../api/definition/kind-schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('metrics.pkg.apis.metrics.v1beta1')
const kind = kindsOf('metrics.pkg.apis.metrics.v1beta1')

export const containerMetrics = struct('ContainerMetrics', {
  name: s.required(1, s.string),
  usage: s.required(2, s.map(s.quantity)),
})

export const nodeMetrics = kind('NodeMetrics', {
  timestamp: s.required(2, s.time),
  window: s.required(3, s.duration),
  usage: s.required(4, s.map(s.quantity)),
})
export type NodeMetrics = Infer<typeof nodeMetrics>

export const podMetrics = kind('PodMetrics', {
  timestamp: s.required(2, s.time),
  window: s.required(3, s.duration),
  containers: s.required(4, s.list(containerMetrics)),
})
export type PodMetrics = Infer<typeof podMetrics>
