// Routes of the control API for all objects at once: snapshots, forks, reset, compaction.

import { randomUUID } from 'node:crypto'
import type { EmbeddedServer } from '../../running-server.js'
import { ControlError, orRefuse } from './control-error.js'
import { fieldsOf, type Route } from './route.js'

const shownFork = (id: string, { url, caPem, token, clientConfiguration, testkit }: EmbeddedServer) => ({
  id,
  url,
  ca: caPem,
  token,
  clientConfiguration,
  testkit,
})

function find<T>(values: ReadonlyMap<string, T>, kind: string, id: string): T {
  const found = values.get(id)
  if (found === undefined) throw new ControlError(404, `no ${kind} ${JSON.stringify(id)}`)
  return found
}

const maxKept = 2000

function checkRoom(values: ReadonlyMap<string, unknown>, kind: string): void {
  if (values.size >= maxKept) throw new ControlError(409, `there are ${maxKept} ${kind}, which is the maximum; remove some`)
}

const snapshotRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/snapshots',
    summary: 'takes a snapshot of all objects',
    run: async ({ server, snapshots }, request) => {
      fieldsOf(request, [])
      checkRoom(snapshots, 'snapshots')
      const snapshot = await orRefuse(() => server.snapshot())
      const id = randomUUID()
      snapshots.set(id, snapshot)
      return { id, resourceVersion: snapshot.resourceVersion }
    },
  },
  {
    method: 'GET',
    path: '/snapshots',
    summary: 'lists the snapshots',
    run: ({ snapshots }) => ({ snapshots: Array.from(snapshots, ([id, { resourceVersion }]) => ({ id, resourceVersion })) }),
  },
  {
    method: 'POST',
    path: '/snapshots/{id}/restore',
    summary: 'restores all objects to a snapshot; watches receive the changes',
    run: async ({ server, snapshots }, request) => {
      fieldsOf(request, [])
      const snapshot = find(snapshots, 'snapshot', request.params['id'] ?? '')
      await orRefuse(() => server.restore(snapshot))
    },
  },
  {
    method: 'DELETE',
    path: '/snapshots/{id}',
    summary: 'removes a snapshot',
    run: ({ snapshots }, { params: { id = '' } }) => {
      find(snapshots, 'snapshot', id)
      snapshots.delete(id)
    },
  },
]

const forkRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/forks',
    summary: 'starts an independent server with the same objects, on its own port',
    run: async (session, request) => {
      fieldsOf(request, [])
      checkRoom(session.forks, 'forks')
      const fork = await orRefuse(() => session.server.fork())
      if (session.isClosed) {
        await fork.close({ immediately: true })
        throw new ControlError(503, 'the server is closed')
      }
      const id = randomUUID()
      session.forks.set(id, fork)
      return shownFork(id, fork)
    },
  },
  {
    method: 'GET',
    path: '/forks',
    summary: 'lists the forks',
    run: ({ forks }) => ({ forks: Array.from(forks, ([id, fork]) => shownFork(id, fork)) }),
  },
  {
    method: 'DELETE',
    path: '/forks/{id}',
    summary: 'ends a fork',
    run: async ({ forks }, { params: { id = '' } }) => {
      const fork = find(forks, 'fork', id)
      forks.delete(id)
      await fork.close({ immediately: true })
    },
  },
]

export const stateRoutes: readonly Route[] = [
  ...snapshotRoutes,
  ...forkRoutes,
  {
    method: 'POST',
    path: '/reset',
    summary: 'restores the objects to their state after the start',
    run: ({ server }, request) => {
      fieldsOf(request, [])
      return orRefuse(() => server.reset())
    },
  },
  {
    method: 'POST',
    path: '/compact',
    summary: 'compacts the history: old resourceVersions and continue tokens get 410',
    run: ({ server }, request) => {
      fieldsOf(request, [])
      return orRefuse(() => server.compact())
    },
  },
]
