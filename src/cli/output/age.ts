// How long ago something was, as short as people like it: 90s, 5m, 3h20m, 4d.

export function ageText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return `${minutes}m${seconds % 60 === 0 ? '' : `${seconds % 60}s`}`
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return `${hours}h${minutes % 60 === 0 ? '' : `${minutes % 60}m`}`
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (hours < 192) return `${days}d${hours % 24 === 0 ? '' : `${hours % 24}h`}`
  if (days < 730) return `${days}d`
  const years = Math.floor(days / 365)
  return years < 8 ? `${years}y${days % 365 === 0 ? '' : `${days % 365}d`}` : `${years}y`
}
