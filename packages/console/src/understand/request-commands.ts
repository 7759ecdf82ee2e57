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

/** Raw requests where the command has them; changes and deletions with options become commands for the object. */
export function asClusterctl(request: CommandRequest): string {
  const { method, path, body, bodyLength } = request
  if (method === 'GET') return `clusterctl get --raw ${shellQuote(path)}`
  if (method === 'DELETE' && bodyLength === 0) return `clusterctl delete --raw ${shellQuote(path)}`
  const verb = method === 'POST' ? 'create' : method === 'PUT' ? 'replace' : undefined
  if (verb === undefined) return objectCommand(request) ?? `# clusterctl has no command for ${method} ${path}`
  const input = body === undefined ? '< body.json' : `<<< ${shellQuote(body)}`
  return `clusterctl ${verb} --raw ${shellQuote(path)} -f - ${input}`
}

const objectPath = /^\/(?:api\/v1|apis\/([^/]+)\/([^/]+))(?:\/namespaces\/([^/]+))?\/([^/]+)\/([^/?]+)(?:\/(status|scale))?(?:\?(.*))?$/
const patchTypes: ReadonlyMap<string, string> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
])

/** Undefined for other paths and kinds of patches. */
function objectCommand({ method, path, contentType, body }: CommandRequest): string | undefined {
  const found = objectPath.exec(path)
  if (found === null) return undefined
  const [, group, version, namespace, resource, name = '', subresource, query = ''] = found
  const parameters = new URLSearchParams(query)
  const type = patchTypes.get(contentType)
  const options =
    method === 'DELETE'
      ? deleteOptions(body)
      : type === undefined
        ? undefined
        : [`--type=${type}`, body === undefined ? '--patch-file=body.json' : `-p ${shellQuote(body)}`]
  if (options === undefined) return undefined
  const target = group === undefined ? resource : `${resource}.${version}.${group}`
  return [
    `clusterctl ${method === 'DELETE' ? 'delete' : 'patch'} ${target} ${shellQuote(decodeURIComponent(name))}`,
    ...(namespace === undefined ? [] : [`-n ${namespace}`]),
    ...(subresource === undefined ? [] : [`--subresource=${subresource}`]),
    ...(parameters.get('dryRun') === 'All' ? ['--dry-run=server'] : []),
    ...(method === 'DELETE' || !parameters.has('fieldManager')
      ? []
      : [`--field-manager=${shellQuote(parameters.get('fieldManager') ?? '')}`]),
    ...options,
  ].join(' ')
}

/** Undefined without a body that it can read. */
function deleteOptions(body: string | undefined): readonly string[] | undefined {
  if (body === undefined) return undefined
  const { propagationPolicy, preconditions } = JSON.parse(body) as { readonly propagationPolicy?: string; readonly preconditions?: unknown }
  return [
    ...(propagationPolicy === undefined ? [] : [`--cascade=${propagationPolicy.toLowerCase()}`]),
    '--wait=false',
    ...(preconditions === undefined ? [] : ['# without the preconditions']),
  ]
}
