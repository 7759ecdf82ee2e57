// Routes of the control API for what a test can see: requests, idleness, history of objects, leaks.

import type { RecordedRequest } from '../inspection/recorded-request.js'
import type { RequestFields } from '../inspection/request-filter.js'
import { ControlError, orRefuse } from './control-error.js'
import { fieldsOf, objectOf, queryOf, type Route } from './route.js'

const filterNames = ['user', 'verb', 'resource', 'namespace', 'name', 'status', 'path', 'userAgent'] as const

/** Query parameters are texts; several values are separated by commas. */
function filterOf(query: { readonly [name in (typeof filterNames)[number]]?: string }): RequestFields {
  const filter: { [name: string]: readonly string[] | readonly number[] } = {}
  for (const name of filterNames) {
    const values = query[name]?.split(',')
    if (values !== undefined) filter[name] = name === 'status' ? values.map(Number) : values
  }
  return filter
}

const shownRequest = (request: RecordedRequest, hasBody: boolean) => {
  const { time, user, verb, resource, subresource, namespace, name, path, query, status, durationMs, userAgent, isOpen } = request
  return {
    ...{ time, user, verb, resource, subresource, namespace, name, path, query, status: status ?? null, durationMs, userAgent, isOpen },
    ...(hasBody ? { body: shownBody(request.body()) } : {}),
  }
}

const shownBody = (body: unknown): unknown => (Buffer.isBuffer(body) ? { base64: body.toString('base64') } : (body ?? null))

function countOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new ControlError(400, '"last" must be a number')
  return Number(text)
}

function objectRefOf(object: string | undefined): string {
  if (object === undefined) throw new ControlError(400, 'the query parameter "object" is required, such as object=configmaps/shop/total')
  return object
}

const requestRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/requests',
    summary: 'requests of clients, the last 1,000',
    run: ({ server: { requests } }, request) => {
      const { body, last, ...filter } = queryOf(request, [...filterNames, 'body', 'last'])
      if (body !== undefined && body !== 'true' && body !== 'false') throw new ControlError(400, '"body" must be true or false')
      const count = last === undefined ? Number.POSITIVE_INFINITY : countOf(last)
      return orRefuse(() => {
        const found = requests.all(filterOf(filter))
        return { requests: found.slice(Math.max(0, found.length - count)).map((each) => shownRequest(each, body === 'true')) }
      })
    },
  },
  { method: 'DELETE', path: '/requests', summary: 'forgets the requests', run: ({ server: { requests } }) => requests.clear() },
  {
    method: 'POST',
    path: '/requests/keep-bodies',
    summary: 'keeps the bodies of later requests',
    run: ({ server: { requests } }, request) => {
      fieldsOf(request, [])
      requests.keepBodies()
    },
  },
  {
    method: 'POST',
    path: '/requests/wait',
    summary: 'waits for a request that matches',
    run: async ({ server: { requests } }, { body }) => {
      const { timeout, ...filter } = objectOf(body)
      const options = timeout === undefined ? {} : { timeout: timeout as string }
      return shownRequest(await orRefuse(() => requests.until(filter as RequestFields, options)), false)
    },
  },
]

export const inspectionRoutes: readonly Route[] = [
  ...requestRoutes,
  {
    method: 'POST',
    path: '/idle',
    summary: 'waits until controllers have nothing queued and watchers were sent everything',
    run: ({ server }, request) => orRefuse(() => server.idle(fieldsOf(request, ['timeout']) as { readonly timeout?: string })),
  },
  {
    method: 'GET',
    path: '/history',
    summary: 'versions of an object: who changed which field; or the object at a time or resourceVersion',
    run: ({ server }, request) => {
      const { object, at } = queryOf(request, ['object', 'at'])
      return orRefuse(() => {
        const history = server.history(objectRefOf(object))
        if (at !== undefined) return { object: history.at(at) ?? null }
        const { ref, versions, completeFrom } = history
        return {
          object: ref,
          completeFrom: completeFrom ?? null,
          versions: versions.map((each) => ({ ...each, object: each.object ?? null })),
        }
      })
    },
  },
  {
    method: 'GET',
    path: '/explain',
    summary: 'the last requests, events and changes of an object, as text',
    run: async ({ server }, request) => {
      const ref = objectRefOf(queryOf(request, ['object']).object)
      await orRefuse(() => server.history(ref))
      const failure = new Error('')
      const explained = server.explain(ref, () => Promise.reject(failure))
      return { text: await explained.catch((thrown: unknown) => (thrown as Error).message.trim()) }
    },
  },
  {
    method: 'GET',
    path: '/leaks',
    summary: 'watches, streams and connections that clients have open',
    run: ({ server }) => ({ leaks: server.leaks() }),
  },
]
