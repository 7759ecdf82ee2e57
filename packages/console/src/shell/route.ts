// Addresses of pages: the fragment of the URL, which browsers do not send to the server.

import type { ServedResource } from '@cluster-apiserver/client/browser.js'

export interface Route {
  /** Name of the page, then its parts: `list/apps/v1/deployments`. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

export function readRoute(fragment: string): Route {
  const text = fragment.replace(/^#\/?/, '')
  const [path = '', query = ''] = text.split('?', 2)
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decode),
    query: new URLSearchParams(query),
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function routeTo(path: readonly string[], query: { readonly [name: string]: string | undefined } = {}): string {
  const parameters = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]])),
  )
  const text = parameters.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

type Resource = Pick<ServedResource, 'group' | 'version' | 'resource'>

/** Group of the core API in a route, in which no part is empty. */
const coreGroup = 'core'

const partsOf = ({ group, version, resource }: Resource): readonly string[] => [group === '' ? coreGroup : group, version, resource]

export const listRoute = (resource: Resource, query: { readonly [name: string]: string | undefined } = {}): string =>
  routeTo(['list', ...partsOf(resource)], query)

export const objectRoute = (resource: Resource, namespace: string | undefined, name: string, tab?: string): string =>
  routeTo(['object', ...partsOf(resource), namespace === undefined || namespace === '' ? '-' : namespace, name], { tab })

export const createRoute = (resource: Resource, namespace: string | undefined): string =>
  routeTo(['create', ...partsOf(resource)], { namespace })

export function findResource(resources: readonly ServedResource[], [group, version, name]: readonly string[]): ServedResource | undefined {
  const wanted = group === coreGroup ? '' : group
  return resources.find((each) => each.group === wanted && each.version === version && each.resource === name)
}
