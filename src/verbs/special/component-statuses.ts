// The parts of a control plane, each asked when somebody wants to know.

import type { ApiObject } from '../../api/object.js'
import { compareText } from '../../base/text-order.js'
import type { Compute } from './signatures.js'

/** How long a component may take to say that it is well. */
const patienceMs = 2000

export const componentStatuses: Compute = async ({ store, components = [] }) => {
  const storeStatus = store.check(patienceMs).then((problem) => ({ isWell: problem === undefined, message: problem }))
  const all = [{ name: 'etcd-0', probe: () => storeStatus }, ...components].sort((a, b) => compareText(a.name, b.name))
  return Promise.all(all.map(async ({ name, probe }) => statusOf(name, await probe(patienceMs))))
}

/** A store that is well has nothing to say; what others answered is told in their words. */
const statusOf = (name: string, { isWell, message }: { readonly isWell: boolean; readonly message: string | undefined }): ApiObject =>
  ({
    metadata: { name },
    conditions: [{ type: 'Healthy', status: isWell ? 'True' : 'False', ...(message === undefined ? {} : { message }) }],
  }) as ApiObject
