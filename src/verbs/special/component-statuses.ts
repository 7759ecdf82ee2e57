// The parts of a control plane: what this server is not is not there, and the store is asked.

import type { ApiObject } from '../../api/object.js'
import type { Compute } from './signatures.js'

/** How long a component may take to say that it is well. */
const patienceMs = 2000

export const componentStatuses: Compute = async ({ store }) => [
  component('controller-manager', 'no controller manager answers this server'),
  component('etcd-0', await store.check(patienceMs)),
  component('scheduler', 'no scheduler answers this server'),
]

const component = (name: string, problem: string | undefined): ApiObject =>
  ({
    metadata: { name },
    conditions: [
      { type: 'Healthy', status: problem === undefined ? 'True' : 'False', message: problem ?? '{"health":"true","reason":""}' },
    ],
  }) as ApiObject
