// Routes of the control API for faults.

import type { Fault, Faults } from '../faults/fault-rules.js'
import { ControlError, orRefuse } from './control-error.js'
import { fieldsOf, objectOf, type Route } from './route.js'

const shown = ({ id, matched, fired, rule }: Fault) => ({ id, matched, fired, rule })

function findFault(faults: Faults, id: string): Fault {
  const found = faults.list().find((fault) => fault.id === id)
  if (found === undefined) throw new ControlError(404, `no fault ${JSON.stringify(id)}`)
  return found
}

export const faultRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/faults',
    summary: 'adds a fault rule',
    run: async ({ server: { faults } }, { body }) => shown(await orRefuse(() => faults.add(objectOf(body)))),
  },
  {
    method: 'GET',
    path: '/faults',
    summary: 'lists the fault rules, with how often each has matched and fired',
    run: ({ server: { faults } }) => ({ faults: faults.list().map(shown) }),
  },
  { method: 'DELETE', path: '/faults', summary: 'removes all fault rules', run: ({ server: { faults } }) => faults.clear() },
  {
    method: 'POST',
    path: '/faults/check',
    summary: 'fails if a fault rule has never fired',
    run: ({ server: { faults } }, request) => {
      fieldsOf(request, [])
      return orRefuse(() => faults.check())
    },
  },
  {
    method: 'GET',
    path: '/faults/{id}',
    summary: 'one fault rule',
    run: ({ server: { faults } }, { params: { id = '' } }) => shown(findFault(faults, id)),
  },
  {
    method: 'DELETE',
    path: '/faults/{id}',
    summary: 'removes a fault rule',
    run: ({ server: { faults } }, { params: { id = '' } }) => findFault(faults, id).remove(),
  },
]
