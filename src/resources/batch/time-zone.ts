// Names of time zones, as the platform knows them.

/** Asking the platform is slow. */
const known = new Map<string, boolean>()
const knownLimit = 1000

export function isTimeZone(name: string): boolean {
  const answer = known.get(name)
  if (answer !== undefined) return answer
  const isKnown = isNameOfZone(name)
  if (known.size < knownLimit) known.set(name, isKnown)
  return isKnown
}

function isNameOfZone(name: string): boolean {
  // The platform knows zones in any case, and old names for new ones; but a name is spelt in one case.
  // Offsets such as +01:00 are understood too, but are no names.
  // The zone of the server has a name, too.
  if (name === '' || name === 'UTC' || name === 'Local') return true
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    const resolved = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return resolved === name || resolved.toLowerCase() !== name.toLowerCase()
  } catch {
    return false
  }
}
