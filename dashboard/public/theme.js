// Before anything is painted, so that nobody who works in the dark is dazzled first.
{
  const chosen = localStorage.getItem('postrider.theme')
  const dark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
}
