// Writes a request as a shell command. The token is never part of it.

import type { RecordedRequest } from '../session/recorded-requests.js'

type CommandRequest = Pick<RecordedRequest, 'method' | 'path' | 'accept' | 'contentType' | 'body' | 'bodyLength'>

export const shellQuote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

export function asCurl(origin: string, { method, path, accept, contentType, body, bodyLength }: CommandRequest): string {
  return [
    'curl --cacert ca.crt -H "Authorization: Bearer $TOKEN"',
    ...(method === 'GET' ? [] : [`-X ${shellQuote(method)}`]),
    ...(accept === '' || accept === 'application/json' ? [] : [`-H ${shellQuote(`Accept: ${accept}`)}`]),
    ...(contentType === '' ? [] : [`-H ${shellQuote(`Content-Type: ${contentType}`)}`]),
    ...(bodyLength === 0 ? [] : [body === undefined ? '--data-binary @body' : `--data-binary ${shellQuote(body)}`]),
    shellQuote(`${origin}${path}`),
  ].join(' ')
}

/** Reads become `get --raw`, creations `create --raw`; other methods have commands that depend on the object. */
export function asClusterctl({ method, path, body, bodyLength }: CommandRequest): string {
  if (method === 'GET') return `clusterctl get --raw ${shellQuote(path)}`
  if (method === 'DELETE' && bodyLength === 0) return `clusterctl delete --raw ${shellQuote(path)}`
  const verb = method === 'POST' ? 'create' : method === 'PUT' ? 'replace' : undefined
  if (verb === undefined) return `# clusterctl sends ${method} only for objects: patch, apply, label or scale\n# ${path}`
  const input = body === undefined ? '< body.json' : `<<< ${shellQuote(body)}`
  return `clusterctl ${verb} --raw ${shellQuote(path)} -f - ${input}`
}
