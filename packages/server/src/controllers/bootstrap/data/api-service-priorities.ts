// Priorities of the APIServices of built-in groups: the order of groups and versions in discovery.

/** Group priority and priorities of versions, by the group's name without its suffix. Higher priorities come first. */
export const apiServicePriorities: { readonly [group: string]: readonly [number, { readonly [version: string]: number }] } = {
  '': [18000, { v1: 1 }],
  apps: [17800, {}],
  events: [17750, {}],
  authentication: [17700, { v1alpha1: 1 }],
  authorization: [17600, {}],
  autoscaling: [17500, { v1: 15, v2: 30 }],
  batch: [17400, {}],
  certificates: [17300, {}],
  networking: [17200, { v1alpha1: 1 }],
  policy: [17100, {}],
  'rbac.authorization': [17000, {}],
  storage: [16800, {}],
  apiextensions: [16700, {}],
  admissionregistration: [16700, {}],
  scheduling: [16600, {}],
  coordination: [16500, {}],
  node: [16300, {}],
  discovery: [16200, {}],
  'flowcontrol.apiserver': [16100, { v1beta2: 15, v1beta3: 18 }],
  'internal.apiserver': [16000, {}],
  resource: [15900, {}],
  metrics: [100, { v1beta1: 100 }],
}
