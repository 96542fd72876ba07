/** The fragment that GitHub gives a heading; on the site, headings have the same. @param {string} heading @returns {string} */
export function fragmentOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\s-]/gu, '')
    .replaceAll(' ', '-')
}
