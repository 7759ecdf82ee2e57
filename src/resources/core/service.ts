// Services: a stable address and name for whatever pods are behind it. Addresses and ports are given by `service-allocation`.

import { defineResource } from '../../api/definition.js'
import { dns1035LabelProblems } from '../../api/validation/name-problems.js'
import { validateBalancerStatus } from './balancer-status.js'
import { proxySubresource } from './proxy-subresource.js'
import { withServiceDefaults } from './service-defaults.js'
import { validateService, validateServiceChange } from './service-rules.js'
import { serviceTable } from './service-table.js'
import { withoutUnneeded } from './service-type-change.js'
import { type Service, service as schema, serviceProxyOptions } from './v1.schema.js'

/** The status is as it was; what it says of a balancer goes with the balancer. */
function prepareUpdate(next: Service, old: Service): Service {
  const spec = withoutUnneeded(next.spec ?? {}, old.spec ?? {})
  const status = old.status ?? { loadBalancer: {} }
  return { ...next, spec, status: spec.type === 'LoadBalancer' ? status : { ...status, loadBalancer: {} } }
}

export const service = defineResource<Service>({
  group: '',
  kind: 'Service',
  resource: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dns1035LabelProblems,
  defaults: withServiceDefaults,
  prepareCreate: (service) => ({ ...service, status: { loadBalancer: {} } }),
  prepareUpdate,
  validate: validateService,
  validateUpdate: validateServiceChange,
  checks: { update: ['metadataChange', 'ownChange', 'metadata', 'own'] },
  createOnUpdate: true,
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    proxySubresource('proxyToService', serviceProxyOptions),
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      validateUpdate: (next) => validateBalancerStatus(next.status?.loadBalancer?.ingress, 'status.loadBalancer'),
      resetFields: ['spec'],
    },
  ],
  table: serviceTable,
})
