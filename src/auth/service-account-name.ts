// How service accounts are called as users: `system:serviceaccount:<namespace>:<name>`.

const prefix = 'system:serviceaccount:'

export const accountName = (namespace: string, name: string): string => `${prefix}${namespace}:${name}`

/** The groups that every account has. */
export const accountGroups = (namespace: string): readonly string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]

/** The account that a user is; undefined for people. */
export function accountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(prefix)) return undefined
  const [namespace = '', name = '', ...rest] = user.slice(prefix.length).split(':')
  return rest.length === 0 && isName(namespace, mostNamespace) && isName(name, mostName) ? { namespace, name } : undefined
}

const mostNamespace = 63
const mostName = 253

/** Whether something may be called so: parts of lower case letters, digits and dashes, between dots where names have them. */
const isName = (name: string, most: number): boolean =>
  name.length <= most && /^[a-z0-9.-]+$/.test(name) && (most === mostNamespace ? [name] : name.split('.')).every(isPart)

const isPart = (part: string): boolean => /^[a-z0-9-]+$/.test(part) && !part.startsWith('-') && !part.endsWith('-')
