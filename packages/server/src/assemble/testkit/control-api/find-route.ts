// Finds the route of a request: 404 for an unknown path, 405 for a known path with another method.

import { ControlError } from './control-error.js'
import type { ControlRequest, Route } from './route.js'

interface FoundRoute {
  readonly route: Route
  readonly params: ControlRequest['params']
}

/** `path` is below `/testkit`, percent-encoded. */
export function findRoute(routes: readonly Route[], method: string, path: string): FoundRoute {
  const segments = segmentsOf(path)
  const found = routes.flatMap((route): readonly FoundRoute[] => {
    const params = segments && match(segmentsOf(route.path) ?? [], segments)
    return params === undefined ? [] : [{ route, params }]
  })
  if (found.length === 0) throw new ControlError(404, 'no such endpoint; GET /testkit/ lists them')
  const allowed = found.find(({ route }) => route.method === method)
  if (allowed !== undefined) return allowed
  const methods = found.map(({ route }) => route.method)
  throw new ControlError(405, `method not allowed; allowed: ${methods.join(', ')}`, methods)
}

/** Undefined for invalid percent-encoding. */
function segmentsOf(path: string): readonly string[] | undefined {
  try {
    return path.split('/').slice(1).map(decodeURIComponent)
  } catch {
    return undefined
  }
}

function match(pattern: readonly string[], segments: readonly string[]): { readonly [name: string]: string } | undefined {
  if (pattern.length !== segments.length) return undefined
  const params: [string, string][] = []
  for (const [i, expected] of pattern.entries()) {
    const segment = segments[i] ?? ''
    if (!expected.startsWith('{')) {
      if (segment !== expected) return undefined
    } else if (segment === '') return undefined
    else params.push([expected.slice(1, -1), segment])
  }
  return Object.fromEntries(params)
}
