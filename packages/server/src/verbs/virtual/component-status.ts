// ComponentStatus: health of the store and of other control plane components, probed on each read.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Compute } from './virtual-resource-types.js'

const probeTimeoutMs = 2000

export const componentStatuses: Compute = async ({ store, components = [] }) => {
  const storeStatus = store.check(probeTimeoutMs).then((problem) => ({ isHealthy: problem === undefined, message: problem }))
  const all = [{ name: 'etcd-0', probe: () => storeStatus }, ...components].sort((a, b) => compareText(a.name, b.name))
  return Promise.all(all.map(async ({ name, probe }) => statusOf(name, await probe(probeTimeoutMs))))
}

const statusOf = (name: string, { isHealthy, message }: { readonly isHealthy: boolean; readonly message: string | undefined }): ApiObject =>
  ({
    metadata: { name },
    conditions: [{ type: 'Healthy', status: isHealthy ? 'True' : 'False', ...(message === undefined ? {} : { message }) }],
  }) as ApiObject
