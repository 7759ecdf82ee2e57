// Names of images, as far as the pull policy depends on them: a floating tag is always pulled anew.

const path = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*'
const host = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const domain = new RegExp(`^${host}(?:\\.${host})*(?::[0-9]+)?$`)
const remainder = new RegExp(`^${path}(?::(\\w[\\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`)
const imageId = /^[a-f0-9]{64}$/

/** Images that nobody can read are not pulled anew either. */
export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  const slash = image.indexOf('/')
  const first = image.slice(0, Math.max(slash, 0))
  // A name without a dot, a colon or this one word is a folder of the default registry.
  const isDomain = first === 'localhost' || /[.:]/.test(first)
  if (imageId.test(image) || (isDomain && !domain.test(first))) return 'IfNotPresent'
  const match = remainder.exec(isDomain ? image.slice(slash + 1) : image)
  if (match === null) return 'IfNotPresent'
  const [, tag, digest] = match
  if (nameLength(image, tag, digest, isDomain) > maxNameLength) return 'IfNotPresent'
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent'
}

const maxNameLength = 255
/** What stands in front of names that say neither a registry nor a folder of one. */
const defaultRegistry = 'docker.io/'
const defaultFolder = 'library/'

/** The length of the whole name, with what it leaves out and without tag and digest. */
function nameLength(image: string, tag = '', digest = '', isDomain: boolean): number {
  const own = image.length - digest.length - (tag === '' ? 0 : tag.length + 1)
  if (isDomain) return own
  return defaultRegistry.length + (image.includes('/') ? 0 : defaultFolder.length) + own
}
