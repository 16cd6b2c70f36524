# `cargo xtask dist` fills in the places between @ and writes the package to target/packages/wringer.nix, for
# pkgs.callPackage. The address is an assumption: put that of your releases in its place.
{ lib, stdenv, fetchurl, autoPatchelfHook, installShellFiles }:

stdenv.mkDerivation {
  pname = "wringer";
  version = "@VERSION@";

  src = fetchurl {
    url = "https://wringer.invalid/releases/v@VERSION@/@ARCHIVE@";
    hash = "@SRI@";
  };

  sourceRoot = "usr";
  nativeBuildInputs = [ autoPatchelfHook installShellFiles ];
  buildInputs = [ stdenv.cc.cc.lib ];

  installPhase = ''
    runHook preInstall
    install -Dm755 bin/wringer $out/bin/wringer
    installManPage share/man/man1/*
    installShellCompletion --bash share/bash-completion/completions/wringer
    installShellCompletion --zsh share/zsh/vendor-completions/_wringer
    installShellCompletion --fish share/fish/vendor_completions.d/wringer.fish
    mkdir -p $out/share/doc
    cp -r share/doc/wringer $out/share/doc/wringer
    runHook postInstall
  '';

  meta = {
    description = "Load tester for proxies, caches and servers";
    license = lib.licenses.asl20;
    platforms = [ "x86_64-linux" ];
    mainProgram = "wringer";
  };
}
